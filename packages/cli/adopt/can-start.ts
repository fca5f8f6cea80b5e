// Checks whether a governed server can start: an entry that names a missing file protects nobody.
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import type { ServerView } from '@subluminal/plane/clients/setup';
import { SILENT } from '../terminal/io.ts';
import type { HeldPolicy } from './held-policy.ts';

export interface StartCheck {
  /** Why a policy would keep a shim from starting; undefined when it is fit for use. */
  readonly policyFault: (path: string) => Promise<string | undefined>;
  /** Why the server cannot start; undefined when nothing is known against it. */
  readonly faultOf: (server: ServerView, held: HeldPolicy) => Promise<string | undefined>;
}

const POLICIES_MAX = 64;

export function startCheck(): StartCheck {
  const known = new Map<string, Promise<string | undefined>>();
  const policyFault = (path: string): Promise<string | undefined> => {
    // A relative path depends on the folder of the server, which is unknown here.
    if (!isAbsolute(path) || (known.size >= POLICIES_MAX && !known.has(path))) {
      return Promise.resolve(undefined);
    }
    const fault = known.get(path) ?? faultIn(path);
    known.set(path, fault);
    return fault;
  };
  return {
    policyFault,
    faultOf: async ({ program = [] }, { path }) => {
      const gone = program.find((word) => isAbsolute(word) && !isFile(word));
      if (gone !== undefined) return `${gone} is gone`;
      return path === null ? undefined : policyFault(path);
    },
  };
}

async function faultIn(path: string): Promise<string | undefined> {
  if (!isFile(path)) return `its policy ${path} is gone`;
  // Reading policies loads more than the rest together.
  const { loadPolicy } = await import('../policy/load-policy.ts');
  const loaded = await loadPolicy(path, { io: SILENT, isRegular: true });
  return isFailure(loaded) ? `its policy ${path} is broken` : undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
