// What the store asks of the rest of the machine, and where it keeps its things.

export interface StorePorts {
  /** Lowercase hex. */
  readonly sha256: (bytes: Uint8Array) => string;
  /** Differs between two processes that had the same id; letters, digits and dashes. */
  readonly processStart: (pid: number) => string | undefined;
  readonly uuid: () => string;
  readonly now: () => Date;
  readonly pid: number;
  /** `BOOT-NUMBER`: where the ids of processes mean something; undefined where there is but one. */
  readonly space?: string | undefined;
}

/** Folders of the home; they are made when they are missing. */
export interface StorePaths {
  readonly backups: string;
  readonly run: string;
}

export interface Store {
  readonly ports: StorePorts;
  readonly paths: StorePaths;
}

/** A process, told apart from all others that had its id. */
export interface Owner {
  readonly pid: number;
  readonly start: string;
  readonly space?: string;
}

/** What a config's record and its locks are named after. */
export function keyOf(target: string, ports: StorePorts): string {
  return ports.sha256(Buffer.from(target)).slice(0, 32);
}

/** A process that the system will not tell about counts as alive: its config is not ours to touch. */
export function isAlive(owner: Owner, ports: StorePorts): boolean {
  if (isElsewhere(owner, ports)) return true;
  const { pid, start } = owner;
  try {
    process.kill(pid, 0);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ESRCH') return false;
  }
  const seen = ports.processStart(pid);
  return seen === undefined || seen === start;
}

/** In another container: its id says nothing here. What is of an earlier boot is gone wherever it was. */
export function isElsewhere({ space }: Owner, ports: StorePorts): boolean {
  if (space === undefined || ports.space === undefined || space === ports.space) return false;
  return space.split('-')[0] === ports.space.split('-')[0];
}

/** This process; undefined where the system does not tell when a process has started. */
export function thisProcess(ports: StorePorts): Owner | undefined {
  const start = ports.processStart(ports.pid);
  if (start === undefined) return undefined;
  return { pid: ports.pid, start, ...(ports.space !== undefined && { space: ports.space }) };
}
