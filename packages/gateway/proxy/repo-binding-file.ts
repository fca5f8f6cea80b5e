// The binding of a repository to this machine, in a file of its git folder. The gateway gives it when the repository
// is first used; one that has ended is asked for again.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure, isFailure, parseRepoBinding } from '@subluminal/contracts';
import { parseJson, readPrivateFile, systemCode, writePrivateFile } from '@subluminal/plane/os';
import type { GatewayClient } from './gateway-client.ts';
import type { RepoFacts } from './repo-facts.ts';

export interface BoundRepo {
  readonly token: string;
  readonly repoId: string;
  readonly expiresMs: number;
}

const FILE = 'aicg-binding';
const BYTES_MAX = 16_384;
/** A refusal is not asked for again with each turn. */
const REFUSED_MS = 600_000;
const RENEWED_MS = 3_600_000;
const REPOS_MAX = 1_024;

export function bindingPath({ gitDir }: Pick<RepoFacts, 'gitDir'>): string {
  return join(gitDir, FILE);
}

/** The binding on file; undefined where there is none that can be read. */
export function readBinding(repo: Pick<RepoFacts, 'gitDir'>): BoundRepo | undefined {
  const path = bindingPath(repo);
  const read = readPrivateFile(path, { bytesMax: BYTES_MAX, isSecret: true });
  if (read.kind !== 'read') return undefined;
  const token = read.bytes.toString('utf8').trim();
  const [, body = ''] = token.split('.');
  const parsed = parseRepoBinding(parseJson(Buffer.from(body, 'base64url').toString('utf8')));
  if (!parsed.ok || !/^[\x21-\x7e]+$/.test(token)) return undefined;
  return { token, repoId: parsed.value.repo_id, expiresMs: parsed.value.exp * 1_000 };
}

/** Asks for a binding and keeps it. */
export async function bindRepo(
  repo: RepoFacts,
  { client, machineId }: { readonly client: GatewayClient; readonly machineId: string },
): Promise<BoundRepo | Failure> {
  const { remoteUrl, headSha, root } = repo;
  if (remoteUrl === undefined) {
    const message = `${root} has no remote \`origin\`, so no gateway knows it.`;
    return failure('SUB_GATEWAY_BINDING', message, 'Add one with `git remote add origin URL`.');
  }
  const bound = await client.bindRepo({ remoteUrl, machineId, headSha });
  if (isFailure(bound)) return bound;
  const { binding_token: token, repo_id: repoId, expires_at_ms: expiresMs } = bound;
  try {
    // A repository may hold a link there that leads anywhere.
    if (lstatSync(repo.gitDir).isDirectory()) writePrivateFile(bindingPath(repo), `${token}\n`);
    return { token, repoId, expiresMs };
  } catch (cause) {
    const message = `${bindingPath(repo)} cannot be written (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the folder and its permissions.');
  }
}

/** The bindings of the repositories that turns come from. */
export class RepoBinder {
  readonly #client: GatewayClient;
  readonly #machineId: string;
  readonly #asking = new Map<string, Promise<BoundRepo | undefined>>();
  readonly #refusedMs = new Map<string, number>();
  readonly #tell: (line: string) => void;

  constructor(options: {
    readonly client: GatewayClient;
    readonly machineId: string;
    readonly tell: (line: string) => void;
  }) {
    this.#client = options.client;
    this.#machineId = options.machineId;
    this.#tell = options.tell;
  }

  /** Undefined for a repository that the gateway does not bind: it then goes by its remote. */
  async binding(repo: RepoFacts): Promise<BoundRepo | undefined> {
    const onFile = readBinding(repo);
    if (onFile !== undefined && onFile.expiresMs > Date.now() + RENEWED_MS) return onFile;
    const { root } = repo;
    const refusedMs = this.#refusedMs.get(root) ?? Number.NEGATIVE_INFINITY;
    if (repo.remoteUrl === undefined || Date.now() - refusedMs < REFUSED_MS) return undefined;
    const asking = this.#asking.get(root) ?? this.#ask(repo);
    this.#asking.set(root, asking);
    try {
      return await asking;
    } finally {
      this.#asking.delete(root);
    }
  }

  async #ask(repo: RepoFacts): Promise<BoundRepo | undefined> {
    const bound = await bindRepo(repo, { client: this.#client, machineId: this.#machineId });
    if (!isFailure(bound)) {
      this.#tell(`${repo.root} is bound as ${bound.repoId}.`);
      return bound;
    }
    // A gateway that is away says nothing about the repository.
    if (bound.code === 'SUB_GATEWAY_AWAY') return undefined;
    if (this.#refusedMs.size >= REPOS_MAX) this.#refusedMs.clear();
    this.#refusedMs.set(repo.root, Date.now());
    this.#tell(`${repo.root} is not bound: ${bound.message}`);
    return undefined;
  }
}
