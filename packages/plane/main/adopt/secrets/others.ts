// Servers of one name share their bindings, whichever client starts them: what the entries of that
// name set, in every config that is known here.
import { CLIENTS } from '../../../clients/index.ts';
import { type FoundConfig, findConfigs } from '../configs.ts';
import { type AdoptPlace, clientPlace, storeAt } from '../place.ts';
import { recordedConfigs } from '../recorded.ts';
import { documentOf, variablesOf } from './plain.ts';

interface Other {
  readonly path: string;
  /** By the variable in upper case, as bindings are told apart. */
  readonly set: ReadonlyMap<string, readonly string[]>;
}

type Others = ReadonlyMap<string, readonly Other[]>;

function othersIn(place: AdoptPlace, more: readonly FoundConfig[]): Others {
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
      const name = entry.governed?.serverName ?? entry.name;
      const set = new Map<string, string[]>();
      for (const { variable, value } of variablesOf(document, entry)) {
        const key = variable.toUpperCase();
        set.set(key, [...(set.get(key) ?? []), value]);
      }
      others.set(name, [...(others.get(name) ?? []), { path: file.path, set }]);
    }
  }
  return others;
}

interface Asked {
  readonly server: string;
  readonly variable: string;
  readonly value: string;
}

type Shared =
  | { readonly kind: 'agreed' }
  /** Another entry of that name would get this value in place of its own. */
  | { readonly kind: 'clash'; readonly path: string }
  /** Entries of that name that have none, and get it too. */
  | { readonly kind: 'also'; readonly paths: readonly string[] };

function sharedBy(others: Others, { server, variable, value }: Asked): Shared {
  const same = others.get(server) ?? [];
  const key = variable.toUpperCase();
  const clash = same.find(({ set }) => set.get(key)?.some((one) => one !== value) === true);
  if (clash !== undefined) return { kind: 'clash', path: clash.path };
  const also = same.filter(({ set }) => !set.has(key)).map(({ path }) => path);
  return also.length === 0 ? { kind: 'agreed' } : { kind: 'also', paths: [...new Set(also)] };
}

export type { Others };
export { othersIn, sharedBy };
