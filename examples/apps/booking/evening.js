// A week of evenings, recorded: node evening.js [--fixed] CONNECTION HISTORY
//
// CONNECTION is a database of PostgreSQL ("postgresql://user@host/database").  The table is made in a schema of its own, which is removed in
// the end.  The history is judged by `isoproof check --level=serializable HISTORY`.
import process from 'node:process';
import pg from 'pg';
import { Recorder } from 'isoproof-recorder';
import { SCHEMA, SEATS, bookATable } from './booking.js';

const GUESTS = 8, WISHES = 40, EVENINGS = 30;

/** One after the other asks for a table, each guest through a connection of his own. */
async function guest(number, client, session, isolation) {
  for (let wish = 0; wish < WISHES; wish++) {
    await bookATable(client, session, isolation, { evening: (wish % EVENINGS) + 1, seats: 1 + ((number + wish) % 4) });
  }
}

async function week(connect, isolation, history) {
  const recorder = new Recorder(history, { facts: { database: 'PostgreSQL', isolation } });
  const clients = await Promise.all(Array.from({ length: GUESTS }, connect));
  try {
    await clients[0].query(SCHEMA);
    await Promise.all(clients.map((client, number) => guest(number, client, recorder.session(), isolation)));
    const { rows } = await clients[0].query(
      'SELECT evening, sum(seats)::integer AS taken FROM booking GROUP BY evening HAVING sum(seats) > $1 ORDER BY evening', [SEATS]);
    return rows;
  } finally {
    recorder.close();
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function main() {
  const words = process.argv.slice(2), fixed = words[0] === '--fixed';
  const [connection, history] = fixed ? words.slice(1) : words;
  if (history === undefined) throw new Error('usage: node evening.js [--fixed] CONNECTION HISTORY');
  const schema = `booking_${process.pid}`;
  const connect = async (options = `-c search_path=${schema}`) => {
    const client = new pg.Client({ connectionString: connection, options });
    await client.connect();
    return client;
  };
  const keeper = await connect('');
  await keeper.query(`CREATE SCHEMA ${schema}`);
  try {
    const full = await week(() => connect(), fixed ? 'serializable' : 'repeatable read', history);
    for (const { evening, taken } of full) console.log(`evening ${evening}: ${taken} guests for ${SEATS} seats`);
    if (full.length === 0) console.log('no evening has more guests than seats');
  } finally {
    await keeper.query(`DROP SCHEMA ${schema} CASCADE`);
    await keeper.end();
  }
}

await main();
