// What channels keep over a restart: who is paired, and which messages were taken.
import { type Failure, isFailure, ThrownFailure, tableFailure } from '@subluminal/contracts';
import { loadSqlite } from '@subluminal/plane/sqlite';
import {
  makePrivateDatabase,
  openPrivateDatabase,
  statementsOf,
} from '@subluminal/plane/sqlite/private-database';
import type { ChannelName, ChatPerson } from '../shared/types.ts';

export interface PairedSender {
  readonly channel: string;
  readonly sender: string;
  readonly senderName: string;
  readonly atMs: number;
}

export interface ChannelStore {
  isPaired(person: Pick<ChatPerson, 'channel' | 'sender'>): boolean;
  pair(sender: PairedSender): void;
  /** False when they were not paired. */
  unpair(channel: string, sender: string): boolean;
  paired(): readonly PairedSender[];
  wasTaken(channel: ChannelName, messageId: string): boolean;
  /** Forgets what is older than `keepMs`. */
  markTaken(channel: ChannelName, messageId: string, at: { nowMs: number; keepMs: number }): void;
  close(): void;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS paired (
    channel TEXT NOT NULL, sender TEXT NOT NULL, sender_name TEXT NOT NULL, at_ms INTEGER NOT NULL,
    PRIMARY KEY (channel, sender)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS taken (
    channel TEXT NOT NULL, message_id TEXT NOT NULL, at_ms INTEGER NOT NULL,
    PRIMARY KEY (channel, message_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS taken_at ON taken (at_ms);
`;
const LOCK_WAIT_MS = 2_000;

export async function openChannelStore(file: string): Promise<ChannelStore | Failure> {
  const sqlite = await loadSqlite();
  try {
    makePrivateDatabase(file);
    const setUp = (db: { exec(sql: string): void }) => db.exec(SCHEMA);
    const options = { timeout: LOCK_WAIT_MS, cacheKib: 1_024, setUp };
    return storeOn(statementsOf(openPrivateDatabase(sqlite, file, options), storeFailure));
  } catch (cause) {
    return isFailure(cause) ? cause : { ...unusable(), cause };
  }
}

function unusable(): Failure {
  return tableFailure('SUB_STEWARD_CHANNEL', 'Its list of paired senders cannot be used.');
}

function storeFailure(cause: unknown): Error {
  return new ThrownFailure({ ...unusable(), cause });
}

function storeOn(db: ReturnType<typeof statementsOf>): ChannelStore {
  return {
    isPaired: ({ channel, sender }) =>
      db.get('SELECT 1 FROM paired WHERE channel = ? AND sender = ?', channel, sender) !==
      undefined,
    pair: ({ channel, sender, senderName, atMs }) => {
      const sql = 'INSERT OR REPLACE INTO paired VALUES (?, ?, ?, ?)';
      db.run(sql, channel, sender, senderName, atMs);
    },
    unpair: (channel, sender) =>
      db.run('DELETE FROM paired WHERE channel = ? AND sender = ?', channel, sender) > 0,
    paired: () =>
      db.all('SELECT * FROM paired ORDER BY at_ms').map((row) => ({
        channel: String(row['channel']),
        sender: String(row['sender']),
        senderName: String(row['sender_name']),
        atMs: Number(row['at_ms']),
      })),
    wasTaken: (channel, messageId) =>
      db.get('SELECT 1 FROM taken WHERE channel = ? AND message_id = ?', channel, messageId) !==
      undefined,
    markTaken: (channel, messageId, { nowMs, keepMs }) => {
      db.run('DELETE FROM taken WHERE at_ms < ?', nowMs - keepMs);
      db.run('INSERT OR IGNORE INTO taken VALUES (?, ?, ?)', channel, messageId, nowMs);
    },
    close: () => db.close(),
  };
}
