// A home and a config of a client in a folder of their own, and the store on them; for tests only.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { thisSystem } from '../../../../os/index.ts';
import { clientOf } from '../../registry.ts';
import type { ConfigFailure, ConfigFile, RewrittenConfig } from '../../types.ts';
import { type ApplyRequest, type ApplyResult, applyChange } from '../apply-change.ts';
import type { ChangeStore } from '../change-store.ts';
import { repairAll } from '../repair-configs.ts';
import type { RestoreRequest } from '../restore-config.ts';
import { restoreConfig } from './find.ts';

const PROGRAM = ['/usr/bin/node', '/opt/sub/bin/sub.mjs'];

export function storeIn(home: string): ChangeStore {
  const system = { ...thisSystem(), space: () => undefined };
  return { system, paths: { backups: join(home, 'backups'), run: join(home, 'run') } };
}

/** Every server, or those that are named, through a shim. */
export function governing(
  file: ConfigFile,
  flags: readonly string[] = [],
  names?: readonly string[],
) {
  return (text: string): RewrittenConfig | ConfigFailure => {
    const client = clientOf(file.client);
    const config = client.read(file, text);
    if (config.kind === 'failure') return config;
    const chosen = config.entries.filter(({ name }) => names?.includes(name) ?? true);
    return client.plan(config, chosen, { program: PROGRAM, flags });
  };
}

export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-store-'));
  readonly home = join(this.folder, 'home');
  /** Holds nothing but the config. */
  readonly place = join(this.folder, 'client');
  readonly store = storeIn(this.home);
  readonly file: ConfigFile;

  constructor(text: string, file: Partial<ConfigFile> = {}) {
    mkdirSync(this.place);
    const name = basename(file.path ?? 'mcp.json');
    const path = join(this.place, name);
    this.file = { client: 'cursor', scope: 'user', format: 'json', ...file, path };
    this.write(text);
  }

  get text(): string {
    return readFileSync(this.file.path, 'utf8');
  }

  write(text: string): void {
    writeFileSync(this.file.path, text);
  }

  apply(more: Partial<ApplyRequest> = {}): ApplyResult {
    const rewrite = governing(this.file);
    return applyChange({ ...this.store, file: this.file, kind: 'import', rewrite, ...more });
  }

  restore(more: Partial<RestoreRequest> = {}) {
    return restoreConfig({ ...this.store, path: this.file.path, ...more });
  }

  repair() {
    return repairAll(this.store);
  }

  /** Beside the config. */
  beside(): readonly string[] {
    return readdirSync(this.place).filter((name) => name !== basename(this.file.path));
  }

  /** In the home, by their paths there. */
  kept(): readonly string[] {
    return ['backups', 'run'].flatMap((part) => {
      const path = join(this.home, part);
      const names = existsSync(path) ? readdirSync(path, { recursive: true }) : [];
      return names.map(String).toSorted();
    });
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Two servers that a shim can stand before, one without arguments, and one by address. */
export const CONFIG = `{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "server-files", "/tmp"],
      "env": { "TOKEN": "abc" }
    },
    "bare": { "command": "bare-mcp" },
    "far": { "url": "https://mcp.example.com" }
  }
}
`;
