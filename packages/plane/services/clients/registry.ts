// Every client we know, and how one is found.
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { custom } from './custom.ts';
import type { Client, ClientId } from './types.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** The one place that lists them. A client is a file that describes it, and a name here. */
export const CLIENTS: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  codex,
  cursor,
  vscode,
  windsurf,
  zed,
  custom,
];

export type FoundClient =
  | { readonly kind: 'client'; readonly client: Client }
  | { readonly kind: 'unknown'; readonly known: readonly ClientId[] };

/** A client that only another version of sub knows is read like any other client. */
export function clientOf(id: ClientId): Client {
  return CLIENTS.find((client) => client.id === id) ?? custom;
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
  if (client !== undefined) return { kind: 'client', client };
  return { kind: 'unknown', known: CLIENTS.map(({ id }) => id) };
}
