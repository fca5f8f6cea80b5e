// How the files of the spool are called. The name says whose lines are inside, in which order the
// files came, and, until a file is complete, which process writes it.

export interface SpoolName {
  readonly producer: string;
  readonly number: number;
  /** The process that writes it; undefined once it is complete. */
  readonly pid: number | undefined;
}

const PRODUCER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const COMPLETE = /^(.+)-(\d{1,9})\.jsonl$/;
const PART = /^(.+)-(\d{1,9})\.jsonl\.(\d{1,9})\.part$/;

export function isProducer(producer: string): boolean {
  return PRODUCER.test(producer);
}

export function completeName({ producer, number }: Omit<SpoolName, 'pid'>): string {
  return `${producer}-${number}.jsonl`;
}

export function partName(name: SpoolName & { readonly pid: number }): string {
  return `${completeName(name)}.${name.pid}.part`;
}

export function readName(name: string): SpoolName | undefined {
  const [, producer = '', number = '', pid] = PART.exec(name) ?? COMPLETE.exec(name) ?? [];
  if (!isProducer(producer)) return undefined;
  return {
    producer,
    number: Number.parseInt(number, 10),
    pid: pid === undefined ? undefined : Number.parseInt(pid, 10),
  };
}
