// Every client we know, and how one is found.
import type { Client as EventClient } from '@subluminal/contracts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { cursor } from './cursor.ts';
import { custom } from './custom.ts';
import { geminiCli } from './gemini-cli.ts';
import type { Client, ClientId } from './types.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** The one place that lists them. A client is a file that describes it, and a name here. */
export const CLIENTS: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  codex,
  copilotCli,
  cursor,
  geminiCli,
  vscode,
  windsurf,
  zed,
  custom,
];

export function clientIds(): readonly ClientId[] {
  return CLIENTS.map(({ id }) => id);
}

/** A client that only another version of sub knows is read like any other client. */
export function clientOf(id: ClientId): Client {
  return CLIENTS.find((client) => client.id === id) ?? custom;
}

/** Finds a client by its id or an alias. */
export function findClient(word: string): Client | undefined {
  const wanted = word.toLowerCase();
  return CLIENTS.find(({ id, aliases }) => id === wanted || aliases.includes(wanted));
}

/**
 * What events call other clients than this one: their calls are none of its. A config that was named
 * by its path may be any client's.
 */
export function otherEventNames({ id, eventName }: Client): readonly EventClient[] {
  if (id === custom.id) return [];
  const names = new Set(CLIENTS.flatMap((client) => client.eventName ?? []));
  return [...names].filter((name) => name !== eventName);
}

/** Finds a client by the command that starts it (F-001). */
export function clientStartedBy(command: readonly string[]): Client | undefined {
  return CLIENTS.find((client) => client.isStartedBy(command));
}
