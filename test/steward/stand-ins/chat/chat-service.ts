// What the stand-ins of chat services share: what they were sent, and a way to wait for it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface SentMessage {
  readonly conversation: string;
  /** As people see it. */
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  /** It took the place of another. */
  readonly isEdit: boolean;
  /** Only this user sees it. */
  readonly onlyFor?: string;
  /** Markup, mentions and links that the service makes of it. */
  readonly markup: readonly string[];
}

export interface Saying {
  readonly from: string;
  readonly text: string;
  /** The same message, once more. */
  readonly id?: string;
  readonly atMs?: number;
  readonly group?: { readonly isMention: boolean };
}

/** A service as both sides see it: a person on one, the channel on the other. */
export interface ChatStandIn {
  readonly service: ChatService;
  /** `channels` of integrations.yaml. */
  readonly settings: { readonly [channel: string]: unknown };
  readonly secrets: { readonly [ref: string]: string };
  readonly users: { readonly owner: string; readonly stranger: string };
  readonly group: string;
  /** Where webhooks go. */
  connect(url: string): void;
  chatOf(user: string): string;
  /** Resolves when the service has handed it over; with the status where it is a webhook. */
  say(saying: Saying): Promise<number | undefined>;
  press(by: string, conversation: string, data: string): Promise<number | undefined>;
  /** Somebody who does not know the secret pretends to be the service. */
  forge(saying: Saying): Promise<number>;
  /** Cuts connections that are kept open. */
  cut?(): void;
  close(): Promise<void>;
}

export type JsonAnswer = { readonly status: number; readonly json: unknown } | undefined;

export class ChatService {
  readonly sent: SentMessage[] = [];
  /** So many sends fail, as when the service has trouble. */
  failNext = 0;
  readonly #looks = new Set<() => void>();

  keep(message: SentMessage): void {
    this.sent.push(message);
    for (const look of this.#looks) look();
  }

  isFailing(): boolean {
    if (this.failNext === 0) return false;
    this.failNext -= 1;
    return true;
  }

  /** The first message that fits, at once or when it comes. */
  until(fits: (message: SentMessage) => boolean): Promise<SentMessage> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.sent.find(fits);
        if (found === undefined) return;
        this.#looks.delete(look);
        resolve(found);
      };
      this.#looks.add(look);
      look();
    });
  }
}

/** An HTTP server on a free port; undefined leaves the connection open without an answer. */
export async function serveJson(
  answer: (request: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
    readonly response: ServerResponse;
  }) => Promise<JsonAnswer> | JsonAnswer,
): Promise<{ readonly url: string; readonly server: Server; readonly close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void buffer(request).then(async (bytes) => {
      const { method = '', url = '', headers } = request;
      const parts = { method, path: url, headers, body: bytes.toString('utf8'), response };
      const answered = await answer(parts);
      if (answered === undefined) return;
      response.writeHead(answered.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answered.json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function parsed(text: string): { readonly [key: string]: unknown } {
  return JSON.parse(text === '' ? '{}' : text) as { readonly [key: string]: unknown };
}
