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
}

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
  insert(key: number, value: number): void;
  update(key: number, value: number | null): void;
  upsert(key: number, value: number): void;
  delete(key: number, found?: boolean): void;
  readRows(predicate: Predicate, rows: Iterable<readonly [number, number]>): void;
  countRows(predicate: Predicate, number: number): void;
  /** A number that no other transaction of this recorder gets, to be written as a value. */
  unique(): number;
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
  transaction<T>(work: (t: Transaction) => T): T;
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
  event(what: string): void;
  close(): void;
}
