// How a config names `sub`: by the runtime and the script, absolute and free of links, because a
// client starts its servers from any folder, and a link may lead elsewhere tomorrow.

import { realFile } from '../../../os/index.ts';
import { governedOf } from '../index.ts';

export interface OwnCall {
  /** `process.execPath` */
  readonly runtime: string;
  /** `process.argv[1]` */
  readonly script: string | undefined;
}

export type OwnProgram =
  | {
      readonly kind: 'program';
      readonly words: readonly string[];
      /** What may take it away again, for people. */
      readonly warning?: string;
    }
  | { readonly kind: 'not_found'; readonly message: string };

/** Where package managers keep what they may throw away at any time. */
const CACHES = /[\\/](?:_npx|dlx-[^\\/]+|\.bun[\\/]install[\\/]cache)[\\/]/;

export function ownProgram({ runtime, script }: OwnCall): OwnProgram {
  const words: string[] = [];
  for (const path of [runtime, script]) {
    const real = path === undefined ? undefined : realFile(path);
    if (real === undefined) {
      const name = path === undefined ? 'the script of sub' : path;
      return { kind: 'not_found', message: `${name} is no file that could be started again.` };
    }
    words.push(real);
  }
  // What we would not know again tomorrow, we would put a second shim in front of.
  const [command, ...args] = words;
  if (governedOf(command, [...args, 'shim', '--', 'server']) === undefined) {
    const message = `${words.join(' ')} is no way to start sub that could be told from others.`;
    return { kind: 'not_found', message };
  }
  const cached = words.find((word) => CACHES.test(word));
  return {
    kind: 'program',
    words,
    ...(cached !== undefined && {
      warning: `sub runs from a cache, ${cached}: when that is emptied, the servers do not start any more. Install it for good first.`,
    }),
  };
}
