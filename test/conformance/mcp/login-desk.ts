// The person who logs in for a fixture client. `sub auth login` refuses to run below an agent, so the client asks for it
// here, in a process that is not below it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { redirectOf } from './client/oauth-fetch.ts';

/** The variable with the address of the desk. */
export const LOGIN_DESK_VARIABLE = 'CONFORMANCE_LOGIN_DESK';

export interface LoginRequest {
  /** Of Node: the command line of `sub auth login`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface LoginDesk {
  readonly url: string;
  close(): void;
}

/** Answers 200 when the login is done, else 500 with what it said. */
export async function openLoginDesk(): Promise<LoginDesk> {
  const server = createServer((request, response) => {
    const login = json(request).then((asked) => logIn(asked as LoginRequest));
    void login.then(({ code, said }) => response.writeHead(code === 0 ? 200 : 500).end(said));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Opens the printed address as a browser whose user consents, and pastes where it led to. */
async function logIn({ args, env }: LoginRequest): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  let isPasted = false;
  const read = (chunk: Buffer): void => {
    said += chunk.toString();
    const address = /https?:\/\/\S+[?&]response_type=code\S*/.exec(said)?.[0];
    if (address === undefined || isPasted) return;
    isPasted = true;
    redirectOf(address).then(
      (redirected) => child.stdin.end(`${redirected.href}\n`),
      () => child.stdin.end(),
    );
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}
