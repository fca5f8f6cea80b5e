// Servers of one name and one command share their bindings, whichever client starts them: what the
// entries of that name set, in every config that is known here.

import { fitsCommand } from '../../../../stores/vault/index.ts';
import { CLIENTS } from '../../index.ts';
import { type FoundConfig, findConfigs } from '../configs.ts';
import { type AdoptPlace, clientPlace, storeAt } from '../place.ts';
import { recordedConfigs } from '../recorded.ts';
import { documentOf, serverOf, variablesOf, wordsOf } from './plain.ts';

interface Other {
  readonly path: string;
  /** What starts it. */
  readonly words: readonly string[];
  /** By the variable in upper case, as bindings are told apart. */
  readonly set: ReadonlyMap<string, readonly string[]>;
}

export type Others = ReadonlyMap<string, readonly Other[]>;

export function othersIn(place: AdoptPlace, more: readonly FoundConfig[]): Others {
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const all = new Map([...found, ...more].map((one) => [one.target, one]));
  for (const one of recordedConfigs(storeAt(place.paths), new Set())) {
    if (one.kind === 'found' && !all.has(one.target)) all.set(one.target, one);
  }
  const others = new Map<string, Other[]>();
  for (const { file, config } of all.values()) {
    const document = documentOf(config);
    for (const entry of document === undefined ? [] : config.entries) {
      if (document === undefined || entry.command === undefined) continue;
      const name = serverOf(entry);
      const words = wordsOf(entry);
      const set = new Map<string, string[]>();
      for (const { variable, value } of variablesOf(document, entry)) {
        const key = variable.toUpperCase();
        set.set(key, [...(set.get(key) ?? []), value]);
      }
      others.set(name, [...(others.get(name) ?? []), { path: file.path, words, set }]);
    }
  }
  return others;
}

interface Asked {
  readonly server: string;
  readonly variable: string;
  readonly value: string;
  /** As the binding would name it. */
  readonly command: readonly string[];
}

interface Shared {
  /** Another entry of that name and command would get this value in place of its own. */
  readonly clash: string | undefined;
  /** Entries of that name and command that have none, and get it too. */
  readonly also: readonly string[];
  /** Entries of that name that start something else: they get nothing. */
  readonly apart: readonly string[];
}

export function sharedBy(others: Others, { server, variable, value, command }: Asked): Shared {
  const isSame = ({ words }: Other) => fitsCommand(command, words);
  const named = others.get(server) ?? [];
  const same = named.filter(isSame);
  const key = variable.toUpperCase();
  const clash = same.find(({ set }) => set.get(key)?.some((one) => one !== value) === true);
  const pathsOf = (some: readonly Other[]) => [...new Set(some.map(({ path }) => path))];
  return {
    clash: clash?.path,
    also: pathsOf(same.filter(({ set }) => !set.has(key))),
    apart: pathsOf(named.filter((one) => !isSame(one) && !one.set.has(key))),
  };
}
