// What the checks of `sub doctor` look at, and what they find.
import type { Failure } from '@subluminal/contracts';
import type { Env, HomePaths, LoadResult } from '@subluminal/plane/config';
import type { LoadedConfig } from '../input/own-config.ts';

export type Level = 'ok' | 'warn' | 'broken';

export interface Finding {
  readonly level: Level;
  readonly text: string;
  /** What to do about it; there when the level is not `ok`. */
  readonly fix?: string;
  /** One line each, where there is more to tell than fits on one. */
  readonly more?: readonly string[];
}

/** What is looked at. Handed in, so that a test can look at another machine than its own. */
export interface Machine {
  readonly env: Env;
  readonly cwd: string;
  readonly userHome: string;
  readonly paths: HomePaths;
  readonly loaded: LoadResult;
  readonly nowMs: number;
  readonly versions: { readonly node: string; readonly sub: string };
  /** The launcher that was called. */
  readonly launcher: string | undefined;
}

/** It looks, and changes nothing. */
export type Check = (machine: Machine) => Promise<Finding>;

/** A check of what the configuration names; another check reports a configuration that is broken. */
export function configuredCheck(
  unknown: string,
  check: (loaded: LoadedConfig, machine: Machine) => Promise<Finding>,
): Check {
  const unreadable = `the configuration cannot be read, so nobody knows ${unknown}`;
  const unchecked = warn(unreadable, 'Correct the configuration first.');
  return async (machine) => (machine.loaded.ok ? check(machine.loaded, machine) : unchecked);
}

export function ok(text: string): Finding {
  return { level: 'ok', text };
}

export function warn(text: string, fix: string): Finding {
  return { level: 'warn', text, fix };
}

export function broken(text: string, fix: string): Finding {
  return { level: 'broken', text, fix };
}

export function brokenBy({ message, code, fix }: Failure): Finding {
  return broken(`${message} [${code}]`, fix);
}

/** The defaults when the configuration cannot be read, which another check reports. */
export function ledgerPlaces({ loaded, paths }: Machine) {
  if (!loaded.ok) return { file: paths.ledger, socket: paths.socket };
  return { file: loaded.config['ledger.path'], socket: loaded.config['ledger.socket'] };
}

/** The code of a failed system call, else what it says. */
export function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string')
    return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The file that a failed system call was about. */
export function pathOf(cause: unknown): string | undefined {
  const path = cause instanceof Error && 'path' in cause ? cause.path : undefined;
  return typeof path === 'string' && path !== '' ? path : undefined;
}
