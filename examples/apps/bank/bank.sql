-- A bank with a classic mistake: a transfer reads two balances into the application, computes there, and writes the
-- results back.  Two transfers at once may read the same balance, and the second one that writes loses the first.

-- setup
CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
INSERT INTO accounts (id, balance) VALUES (1, 100), (2, 100), (3, 100), (4, 100), (5, 100);
SELECT sum(balance) AS total FROM accounts \gset

-- transaction transfer weight 4
\set source random(1, 5)
\set target 1 + (:source + random(0, 3)) % 5
\set amount random(1, 10)
SELECT balance AS source_balance FROM accounts WHERE id = :source \gset
\if :source_balance >= :amount
SELECT balance AS target_balance FROM accounts WHERE id = :target \gset
UPDATE accounts SET balance = :source_balance - :amount WHERE id = :source;
UPDATE accounts SET balance = :target_balance + :amount WHERE id = :target;
\endif

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
