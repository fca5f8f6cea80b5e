// Hooks of ours in files that no record knows of, as when the home was lost.
import { isFailure } from '@subluminal/contracts';
import { removeHooks } from '../hooks/edit-hooks.ts';
import { hooksOf } from '../hooks/registry.ts';
import type { ClientHooks, HookFile } from '../hooks/types.ts';
import type { Client, ClientPlace, ConfigFailure } from '../index.ts';
import { hooksDiff } from '../inspect/hooks-diff.ts';
import { type ChangeStore, configFailure, configKey } from '../store/change-store.ts';
import { readConfigFile } from '../store/config-file.ts';
import { freeFile } from '../store/restore-config.ts';
import type { RestoreFile } from './restore.ts';

interface StrayOptions {
  readonly clients: readonly Client[];
  readonly place: ClientPlace;
  readonly store: ChangeStore;
  /** The keys of records. */
  readonly known: ReadonlySet<string>;
  readonly redact: (text: string) => string;
}

export function strayHooks(options: StrayOptions): readonly RestoreFile[] {
  const { clients, place } = options;
  return clients.flatMap((client) => {
    const hooks = hooksOf(client.id);
    if (hooks === undefined) return [];
    const managed = hooks.managedFile?.(place);
    return [
      ...strayIn(client, hooks.userFile(place), { ...options, hooks }),
      ...(managed === undefined
        ? []
        : strayIn(client, managed, { ...options, hooks: hooksOf(client.id, true) ?? hooks })),
    ];
  });
}

function strayIn(
  client: Client,
  file: HookFile,
  { store, known, redact, hooks }: StrayOptions & { readonly hooks: ClientHooks },
): readonly RestoreFile[] {
  const config = readConfigFile(file.path);
  if (config.kind !== 'read' || known.has(configKey(config.target, file.part))) return [];
  const after = without(config.text, file, hooks);
  if (isFailure(after) || after === config.text) return [];
  const change = { before: config.text, after, change: {} };
  return [
    {
      client,
      path: file.path,
      how: 'unrecorded',
      hasHooks: true,
      ...{ taken: [], left: [], missing: [], renamed: new Set<string>() },
      ...{ secrets: [], stored: [], withheld: [], rotated: [] },
      diff: hooksDiff({ file, redact, ...change }),
      unbind: () => Promise.resolve(undefined),
      apply: () =>
        freeFile({ ...store, path: file.path, without: (text) => without(text, file, hooks) }),
    },
  ];
}

/** A block of TOML is known by its record alone. */
function without(
  text: string,
  { format, path }: HookFile,
  hooks: ClientHooks,
): string | ConfigFailure {
  if (format === 'toml') return text;
  const out = removeHooks({ text, format }, hooks);
  if (out.kind === 'edited') return out.text;
  return configFailure(path, `Our hooks cannot be taken out of ${path}: ${out.why}`, 'Correct it.');
}
