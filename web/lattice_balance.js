// Makes a small lattice upright: tries every order of the boxes within each row, and keeps what needs the least width and
// the shortest lines.  The rows stay as they are.

const BALANCED_ROW = 5; // boxes, of which there are 120 orders

function permutations(items) {
  let orders = [[]];
  for (const item of items)
    orders = orders.flatMap((order) =>
      order.concat([null]).map((_, at) => [...order.slice(0, at), item, ...order.slice(at)])
    );
  return orders;
}

// Columns for rows in given orders: each box near the middle of its neighbours, at least one column apart.
function settle(rows, neighbours) {
  const column = new Map();
  for (const row of rows) row.forEach((id, at) => column.set(id, at - (row.length - 1) / 2));
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const row of rows) {
      const wishes = row.map((id) => {
        const near = neighbours.get(id);
        return near.length > 0 ? near.reduce((sum, other) => sum + column.get(other), 0) / near.length : column.get(id);
      });
      const at = [];
      wishes.forEach((wish, place) => at.push(place > 0 ? Math.max(wish, at[place - 1] + 1) : wish));
      const shift = wishes.reduce((sum, wish, place) => sum + wish - at[place], 0) / row.length;
      row.forEach((id, place) => column.set(id, Math.round((at[place] + shift) * 2) / 2));
    }
  }
  return column;
}

function latticeCost(column, lines) {
  const all = [...column.values()];
  let cost = 3 * (Math.max(...all) - Math.min(...all));
  for (const [above, below] of lines) cost += Math.abs(column.get(above) - column.get(below));
  return cost;
}

// New columns for the places of levels; large lattices keep those they have.
function balance(places, implies) {
  const rows = [];
  for (const [id, place] of [...places].sort(([, a], [, b]) => a.column - b.column)) (rows[place.row] ||= []).push(id);
  if (rows.some((row) => row.length > BALANCED_ROW)) return;
  const lines = implies.filter(([above, below]) => places.has(above) && places.has(below));
  const neighbours = new Map([...places.keys()].map((id) => [id, []]));
  for (const [above, below] of lines) {
    neighbours.get(above).push(below);
    neighbours.get(below).push(above);
  }
  let best = settle(rows, neighbours),
    cost = latticeCost(best, lines);
  for (let round = 0; round < 3; round++) {
    rows.forEach((row, number) => {
      for (const order of permutations(row)) {
        const tried = rows.with(number, order),
          column = settle(tried, neighbours),
          price = latticeCost(column, lines);
        if (price >= cost - 1e-9) continue;
        [rows[number], best, cost] = [order, column, price];
      }
    });
  }
  const left = Math.min(...best.values());
  for (const [id, place] of places) place.column = best.get(id) - left;
}
