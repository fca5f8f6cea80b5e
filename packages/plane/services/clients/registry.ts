// Every client we know, and how one is found.
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { custom } from './custom.ts';
import { CLIENT_IDS, type Client, type ClientId } from './types.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

const BY_ID: { readonly [id in ClientId]: Client } = {
  'claude-code': claudeCode,
  'claude-desktop': claudeDesktop,
  codex,
  cursor,
  vscode,
  windsurf,
  zed,
  custom,
};

export const CLIENTS: readonly Client[] = CLIENT_IDS.map((id) => BY_ID[id]);

export type FoundClient =
  | { readonly kind: 'client'; readonly client: Client }
  | { readonly kind: 'unknown'; readonly known: readonly ClientId[] };

export function clientOf(id: ClientId): Client {
  return BY_ID[id];
}

/** By its id or another word for it. */
export function findClient(word: string): FoundClient {
  const wanted = word.toLowerCase();
  return found(CLIENTS.find(({ id, aliases }) => id === wanted || aliases.includes(wanted)));
}

/** By the command that starts it (F-001). */
export function clientStartedBy(command: readonly string[]): FoundClient {
  return found(CLIENTS.find((client) => client.isStartedBy(command)));
}

function found(client: Client | undefined): FoundClient {
  return client === undefined ? { kind: 'unknown', known: CLIENT_IDS } : { kind: 'client', client };
}
