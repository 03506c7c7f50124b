/** A key or a value; parts of a list are joined by "/"; whatever has no form of its own is kept as text. */
export type Scalar = string | number | bigint | boolean | null | undefined | Date | readonly Scalar[];

/** The value of a read whose answer never came. */
export const NOT_KNOWN: unique symbol;
type Observed = Scalar | typeof NOT_KNOWN;

/** Which rows a query picks: conditions that must all be met. */
export interface Predicate {
  keys?: readonly [number, number];
  values?: readonly [number, number];
  modulo?: readonly [number, number];
  /** Of columns: ['city', '=', 'Ulm'], ['age', 'in', [7, 8]], ['left', 'is null']. */
  where?: readonly (readonly [string, string] | readonly [string, string, Content | readonly Content[]])[];
}

/** What is in a column. */
export type Content = string | number | null;
export type Columns = Readonly<Record<string, Content>>;

export class Transaction {
  private constructor(session: Session);
  read(key: Scalar, value: Observed): void;
  write(key: Scalar, value: Scalar): void;
  append(key: Scalar, element: Scalar): void;
  readList(key: Scalar, elements: Iterable<Scalar> | null): void;
  add(key: Scalar, element: Scalar): void;
  readSet(key: Scalar, elements: Iterable<Scalar> | null): void;
  increment(key: Scalar, by?: number): void;
  readCounter(key: Scalar, value: number | null): void;
  /** `name` is what people call the row: 'booking[id=7]'. */
  insert(key: number, value: number, columns?: Columns, name?: string): void;
  update(key: number, value: number | null, columns?: Columns): void;
  upsert(key: number, value: number, columns?: Columns): void;
  delete(key: number, found?: boolean): void;
  readRows(predicate: Predicate, rows: Iterable<readonly [number, number]>): void;
  countRows(predicate: Predicate, number: number): void;
  /** A number that no other transaction of this recorder gets, to be written as a value. */
  unique(): number;
  /** What is recorded from here on was done by this statement; witnesses show it. */
  statement(text: string): void;
  /** It is certain that it was rolled back. */
  aborted(error?: Scalar): void;
  /** Nobody can tell whether it was committed. */
  unknown(error?: Scalar): void;
}

/** One connection. */
export class Session {
  private constructor(recorder: Recorder, name: Scalar, node: Scalar);
  readonly recorder: Recorder;
  readonly name: Scalar;
  readonly node: Scalar;
  /** Records a transaction from the call of `work` to its end. */
  transaction<T>(work: (t: Transaction) => T, options?: TransactionOptions): T;
}

export interface TransactionOptions {
  /** Which of the application's transactions it is: 'place order'. */
  name?: string;
  /** The level that this one is held to, where transactions have levels of their own. */
  isolation?: string;
}

export interface RecorderOptions {
  append?: boolean;
  firstValue?: number;
  facts?: Readonly<Record<string, string | number | boolean>>;
}

/** Writes a history. */
export class Recorder {
  constructor(path: string, options?: RecorderOptions);
  session(name?: Scalar, options?: { node?: Scalar }): Session;
  unique(): number;
  nameRow(key: number, name: string): void;
  event(what: string): void;
  close(): void;
}
