// The configuration in force. A changed folder is read and put in force as a whole; a broken one changes nothing.
import { join } from 'node:path';
import type { Problem } from '@subluminal/core/source';
import { watchFiles } from '@subluminal/plane/os';
import { FILES, MANIFESTS, readFolder } from './config-folder.ts';
import { readStewardConfig } from './read-config.ts';
import type { BrokenConfig, StewardConfig } from './types.ts';

export interface LiveConfigRequest {
  readonly folder: string;
  /** Called when another configuration is in force. */
  readonly changed: (config: StewardConfig) => void;
  /** Called once for each state of a folder that is broken. */
  readonly rejected: (problems: readonly Problem[]) => void;
  readonly everyMs?: number;
}

export interface LiveStewardConfig {
  readonly kind: 'live';
  current(): StewardConfig;
  /** What is wrong with the folder while an older configuration is in force. */
  problems(): readonly Problem[];
  /** Reads the folder now. */
  reload(): Promise<void>;
  stop(): void;
}

const LOOK_EVERY_MS = 1_000;

/** Loads the folder and follows it; what is wrong at the start is returned, and nothing is followed. */
export async function followStewardConfig(
  request: LiveConfigRequest,
): Promise<LiveStewardConfig | BrokenConfig> {
  const { folder, changed, rejected, everyMs = LOOK_EVERY_MS } = request;
  const first = await readStewardConfig(folder);
  if (first.kind === 'broken') return first;
  let config = first;
  let seen = first.version;
  let problems: readonly Problem[] = [];
  const read = async (): Promise<void> => {
    const { version } = readFolder(folder);
    if (version === seen) return;
    const next = await readStewardConfig(folder);
    seen = version;
    if (next.kind === 'broken') {
      problems = next.problems;
      rejected(problems);
      return;
    }
    problems = [];
    if (next.version === config.version) return;
    config = next;
    changed(config);
  };
  // One after the other: what was read last is what is in force.
  let last: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => {
    const next = last.then(read);
    last = next.catch(() => undefined);
    return next;
  };
  // The folder of manifests too: its time changes with its entries, and what is in one is followed by its server.
  const paths = [...FILES, MANIFESTS].map((name) => join(folder, name));
  const watched = watchFiles({ paths, everyMs, read: reload });
  return {
    kind: 'live',
    current: () => config,
    problems: () => problems,
    reload,
    stop: () => watched.stop(),
  };
}
