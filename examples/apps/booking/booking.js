// A restaurant takes bookings: as many guests an evening as it has seats, and not one more.
//
// To book is to look at the bookings of the evening, add them up, and insert one more if there is room.  At repeatable read, as
// PostgreSQL has it, two guests who book at the same time see the same bookings and are both let in: no row is changed by both of them,
// so nothing stops them.  That is a phantom, and a write skew.  At serializable one of the two is refused and tries again.
//
// `t` is a transaction of isoproof's recorder: t.readRows and t.insert note what a statement read and wrote.

export const SEATS = 10;

export const SCHEMA = 'CREATE TABLE booking (id integer PRIMARY KEY, evening integer NOT NULL, seats integer NOT NULL)';

const OF_AN_EVENING = 'SELECT id, seats FROM booking WHERE evening = $1';
const ONE_MORE = 'INSERT INTO booking (id, evening, seats) VALUES ($1, $2, $3)';

/** Books seats, or returns false where there are not enough of them.  Bookings are never changed, so the id tells the version. */
async function book(client, t, { evening, seats }) {
  const { rows } = await client.query(OF_AN_EVENING, [evening]);
  t.statement(OF_AN_EVENING);
  t.readRows({ where: [['evening', '=', evening]] }, rows.map(({ id }) => [id, id]));
  const taken = rows.reduce((sum, row) => sum + row.seats, 0);
  if (taken + seats > SEATS) return false;
  const id = t.unique();
  await client.query(ONE_MORE, [id, evening, seats]);
  t.statement(ONE_MORE);
  t.insert(id, id, { evening }, `booking[id=${id}]`);
  return true;
}

/** One attempt, recorded as the client saw it. */
function attempt(client, session, isolation, wish) {
  return session.transaction(async (t) => {
    let room;
    try {
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
      room = await book(client, t, wish);
    } catch (problem) {
      t.aborted(problem.code); // no COMMIT was sent
      await client.query('ROLLBACK').catch(() => {});
      throw problem;
    }
    try {
      await client.query('COMMIT');
    } catch (problem) {
      if (REFUSED.has(problem.code)) t.aborted(problem.code); // otherwise nobody knows
      throw problem;
    }
    return room;
  }, { name: 'book a table' });
}

// Serialization failure, deadlock: the server has rolled the transaction back.
const REFUSED = new Set(['40001', '40P01']);

/** Books until the database says yes or there is no room. */
export async function bookATable(client, session, isolation, wish) {
  for (;;) {
    try {
      return await attempt(client, session, isolation, wish);
    } catch (problem) {
      if (!REFUSED.has(problem.code)) throw problem;
    }
  }
}
