"""A small shop: products with a stock, and orders.

Two ways to place an order are here.  Both read the stock, refuse the order where it does not suffice, and write the new
stock.  The first one does so as it is often written, and loses updates at read committed, PostgreSQL's default: two customers
read the same stock, both write what is left after their own order, and one of the two orders never left the stock.  The second one locks the
product while it decides.

The argument `t` is a transaction of isoproof's recorder: t.read and t.write run a statement and note which row it was about and
which version of the row it saw or made.  Without them this would be a cursor and its execute().
"""

SCHEMA = """
    CREATE TABLE product (id integer PRIMARY KEY, name text NOT NULL, stock integer NOT NULL, version bigint);
    CREATE TABLE orders (id bigint PRIMARY KEY, product integer NOT NULL REFERENCES product, quantity integer NOT NULL);
"""


class SoldOut(Exception):
    """There is less in stock than somebody wants to buy."""


def open_shop(connection, names, stock):
    """Makes the tables and puts products on the shelves."""
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA)
        for number, name in enumerate(names, 1):
            cursor.execute("INSERT INTO product VALUES (%s, %s, %s, NULL)", (number, name, stock))
    connection.commit()


def place_order(t, product, quantity):
    """The mistake: between SELECT and UPDATE anybody may change the stock."""
    stock, _ = t.read(("product", product), "SELECT stock, version FROM product WHERE id = %s", (product,), value=1)
    _sell(t, product, quantity, stock)


def place_order_locked(t, product, quantity):
    """The fix: whoever reads the stock in order to change it locks the row first."""
    stock, _ = t.read(("product", product), "SELECT stock, version FROM product WHERE id = %s FOR UPDATE", (product,), value=1)
    _sell(t, product, quantity, stock)


def _sell(t, product, quantity, stock):
    if stock < quantity:
        raise SoldOut(product)
    order = t.unique()
    t.execute("INSERT INTO orders VALUES (%s, %s, %s)", (order, product, quantity))
    t.write(("product", product), order, "UPDATE product SET stock = %s, version = %s WHERE id = %s",
            lambda version: (stock - quantity, version, product))


def books(connection):
    """Product, stock, ordered: what an auditor would look at."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT p.name, p.stock, coalesce(sum(o.quantity), 0) FROM product p LEFT JOIN orders o"
                       " ON o.product = p.id GROUP BY p.id ORDER BY p.id")
        rows = cursor.fetchall()
    connection.commit()
    return rows
