// Puts what people change in the configuration folder in force while Steward runs.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorText, watchFiles } from '@subluminal/plane/os';
import type { Conversations } from '../loop/index.ts';
import { readInstalledTools } from '../sandbox/index.ts';
import type { Parts } from './open-parts.ts';
import { useConfig, useTools } from './open-run.ts';

export interface FollowedConfig {
  /** Another configuration is in force. */
  readonly changed: () => void;
  /** Reads the folder now, and returns when all open runs follow it. */
  readonly apply: () => Promise<void>;
  readonly stop: () => void;
}

const COMMITS_EVERY_MS = 1_000;

export function followConfig(parts: Parts, conversations: Conversations): FollowedConfig {
  const { live, log } = parts;
  let config = live.current();
  const toolsNow = () => readInstalledTools(live.current().toolsFolder);
  let tools = toolsNow();
  // One after the other: servers and tools come and go in the order of the changes.
  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch((cause: unknown) => log(`${errorText(cause)}.`));
    return last;
  };
  const changed = (): void => {
    const before = config;
    config = live.current();
    void inTurn(() => useConfig(parts, conversations, before));
  };
  const followTools = () =>
    inTurn(async () => {
      const before = tools;
      tools = toolsNow();
      if (!isDeepStrictEqual(before, tools)) await useTools(parts, conversations);
    });
  // A merge ends with a commit: by then all files of a tool are there.
  const commits = join(live.current().folder, '.git', 'logs', 'HEAD');
  const watched = watchFiles({ paths: [commits], everyMs: COMMITS_EVERY_MS, read: followTools });
  return {
    changed,
    apply: async () => {
      await live.reload();
      await followTools();
    },
    stop: () => watched.stop(),
  };
}
