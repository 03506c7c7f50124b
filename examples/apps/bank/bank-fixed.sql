-- The same bank without the mistake: the database does the arithmetic on the balance that is there when it writes, a
-- constraint refuses debts, and accounts are changed in the order of their numbers, so that transfers do not deadlock.

-- setup
CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
INSERT INTO accounts (id, balance) VALUES (1, 100), (2, 100), (3, 100), (4, 100), (5, 100);
SELECT sum(balance) AS total FROM accounts \gset

-- transaction transfer weight 4
\set source random(1, 5)
\set target 1 + (:source + random(0, 3)) % 5
\set amount random(1, 10)
\set first least(:source, :target)
\set second greatest(:source, :target)
\set change case when :first = :source then - :amount else :amount end
UPDATE accounts SET balance = balance + (:change) WHERE id = :first;
UPDATE accounts SET balance = balance - (:change) WHERE id = :second;

-- transaction overview
SELECT id, balance FROM accounts;

-- invariant money
SELECT sum(balance) FROM accounts;
-- expect :total

-- invariant no_debts
SELECT id, balance FROM accounts WHERE balance < 0;
-- expect empty

-- teardown
DROP TABLE accounts;
