import type { Transport as ModernTransport } from '@modelcontextprotocol/client';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** A way from the agent to the server of a scenario. */
export interface Connection {
  legacy(): LegacyTransport;
  modern(): ModernTransport;
  /** Does what this failure asks the user for. False when it asks for nothing. */
  logIn(cause: unknown): Promise<boolean>;
  close(): Promise<void>;
}
