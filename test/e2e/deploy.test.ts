// The files of `deploy/`: what they say, and whether their commands work. There is no container engine here, so the
// commands of the image run on this machine instead, in their order: the same build from a fresh copy of the files, the
// same install, the same start, as the same user, with the program in a folder that this user cannot write to. Only
// the packages that the build needs are those of the checkout: it got them by the same `npm ci`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { readSource, treeValue } from '@subluminal/core/policy';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createTestDatabase,
  POSTGRES_START_MS,
} from '../../packages/gateway/store/testing/postgres.ts';
import { bareEnvironment, succeed } from '../packed.ts';
import { verifies } from '../requirements.ts';
import { ROOT } from './sub.ts';

const NODE = '/nodejs/bin/node';
const USER_ID = 1_000;
const isRoot = process.getuid?.() === 0;
const DOCKERFILE = readFileSync(`${ROOT}deploy/Dockerfile`, 'utf8');
const ignored = readFileSync(`${ROOT}deploy/Dockerfile.dockerignore`, 'utf8').split('\n');
/** Installs and builds everything from nothing. */
const BUILD_MS = 600_000;

interface Service {
  readonly [key: string]: unknown;
  readonly command: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly environment: { readonly [name: string]: string };
  readonly volumes: readonly string[];
}

interface Compose {
  readonly services: { readonly gateway: Service; readonly postgres: Service };
  readonly volumes: object;
}

function readCompose(): Compose {
  const file = 'deploy/compose.yaml';
  const read = readSource({ file, bytes: readFileSync(ROOT + file) });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return treeValue(read.tree) as Compose;
}

/** The instructions of the Dockerfile, stage by stage. */
const stages = DOCKERFILE.split(/^(?=FROM )/m)
  .slice(1)
  .map((text) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
const [build = [], image = []] = stages;
const after = (lines: readonly string[], word: string) =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
const words = (name: string) => JSON.parse(after(image, name)[0] ?? '[]') as readonly string[];

describe('deploy/Dockerfile', () => {
  test('takes only the product into an image without a shell, for a user who is not root', () => {
    verifies('R-1');
    expect(stages).toHaveLength(2);
    expect(image[0]).toMatch(/^FROM gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot$/);
    expect(after(image, 'RUN')).toEqual([]);
    expect(after(image, 'COPY')).toEqual([
      '--from=build /app /app',
      '--from=build --chown=1000:1000 /data /data',
    ]);
    expect(after(image, 'USER')).toEqual(['1000:1000']);
    expect(words('ENTRYPOINT')[0]).toBe(NODE);
  });

  test('builds with the one command that also works in a fresh clone', () => {
    verifies('R-1');
    const [first, ...rest] = after(build, 'RUN');
    expect(first).toBe('npm run package');
    expect(rest[0]).toMatch(/^npm install --prefix \/app .*--ignore-scripts/);
    expect(ignored).toEqual(
      expect.arrayContaining(['.git', '**/node_modules', '**/*.key', '**/.env']),
    );
  });
});

describe('deploy/compose.yaml', () => {
  const { services, volumes } = readCompose();
  const { gateway, postgres } = services;

  test('shuts the gateway in: no root to write to, no capabilities, no port but on loopback', () => {
    verifies('R-2');
    expect(gateway).toMatchObject({
      build: { context: '..', dockerfile: 'deploy/Dockerfile' },
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:8790:8790'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
    expect(postgres).not.toHaveProperty('ports');
  });

  test('mounts the example, which is there, and volumes that it declares', () => {
    const sources = [...gateway.volumes, ...postgres.volumes].map((one) =>
      one.replace(/^\$\{\w+:-([^}]+)\}/, '$1').split(':'),
    );
    for (const [source = ''] of sources) {
      const isThere = source.startsWith('.')
        ? existsSync(join(ROOT, 'deploy', source, 'pools.yaml'))
        : source in volumes;
      expect(isThere, source).toBe(true);
    }
  });

  test('holds no password, and starts with none', () => {
    const needed = '${POSTGRES_PASSWORD:?set it in deploy/.env}';
    expect(gateway.environment['PGPASSWORD']).toBe(needed);
    expect(postgres.environment['POSTGRES_PASSWORD']).toBe(needed);
    expect(spawnSync('git', ['check-ignore', '-q', 'deploy/.env'], { cwd: ROOT }).status).toBe(0);
  });

  test('gives the gateway the keys that the example refers to', () => {
    const pools = readFileSync(`${ROOT}examples/gateway/pools.yaml`, 'utf8');
    const asked = [...pools.matchAll(/^\s+key_ref: env:\/\/(\w+)/gm)].map(([, name]) => name);
    expect(asked.length).toBeGreaterThan(1);
    expect(Object.keys(gateway.environment)).toEqual(expect.arrayContaining(asked));
  });
});

/** What `COPY . .` takes: the files of the checkout without those that the image leaves out. */
function copyContext(to: string): void {
  const listed = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 1 << 24,
    },
  );
  const left = new Set(ignored.filter((name) => /^[\w.]+$/.test(name)));
  for (const path of listed.stdout.split('\0')) {
    const isThere = path !== '' && existsSync(ROOT + path);
    if (!isThere || left.has(path.split('/')[0] ?? '')) continue;
    cpSync(ROOT + path, join(to, path), { preserveTimestamps: true });
  }
}

/** Without them, as where files cannot be linked, the build installs its own. */
function linkPackages(to: string): void {
  const linked = spawnSync('cp', ['-al', `${ROOT}node_modules`, to]);
  const folder = join(to, 'node_modules');
  if (linked.status !== 0) rmSync(folder, { recursive: true, force: true });
  rmSync(join(folder, '.cache'), { recursive: true, force: true });
}

describe('the commands of the image', () => {
  let folder: string;
  beforeAll(() => {
    // On a disk, where the packages of the checkout can be linked.
    folder = mkdtempSync('/tmp/sub-deploy-');
    // Others get through, as they do in the image.
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'home'));
    copyContext(join(folder, 'src'));
    linkPackages(join(folder, 'src'));
    const { HOME = '', TEST_CA_CERTS = '' } = process.env;
    const env = {
      ...bareEnvironment(folder),
      npm_config_cache: join(HOME, '.npm'),
      npm_config_prefer_offline: 'true',
      ...(TEST_CA_CERTS && { NODE_EXTRA_CA_CERTS: TEST_CA_CERTS }),
    };
    for (const command of after(build, 'RUN')) {
      const here = command.replaceAll(/ (?=\/(?:app|data)\b)/g, ` ${folder}`);
      succeed('sh', ['-c', here], { cwd: join(folder, 'src'), env, timeoutMs: BUILD_MS });
    }
    cpSync(`${ROOT}examples/gateway`, join(folder, 'config'), { recursive: true });
  }, BUILD_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }), BUILD_MS);

  /** Where a path of the image is here. */
  const here = (word: string) =>
    word === NODE ? process.execPath : word.replace(/^(?=\/(?:app|config)\b)/, folder);

  function start(command: readonly string[], env: { readonly [name: string]: string }) {
    const data = mkdtempSync(join(folder, 'data-'));
    if (isRoot) chownSync(data, USER_ID, USER_ID);
    const fixed = Object.fromEntries(
      (after(image, 'ENV')[0] ?? '').split(' ').map((one) => one.replace('/data', data).split('=')),
    ) as { [name: string]: string };
    const [file = '', ...args] = [...words('ENTRYPOINT'), ...command].map(here);
    const child = spawn(file, args, {
      cwd: '/',
      env: { ...fixed, ANTHROPIC_API_KEY: 'a-key-of-tests', OPENAI_API_KEY: 'another-key', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(isRoot && { uid: USER_ID, gid: USER_ID }),
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, data };
  }

  /** The address that it says it listens on. */
  function listening(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      let log = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        const url = /It listens on (http:\S+?)\.\n/.exec(log)?.[1];
        if (url !== undefined) resolve(url.replace('0.0.0.0', '127.0.0.1'));
      });
      child.on('close', (code) => reject(new Error(`ended with ${code}:\n${log}`)));
    });
  }

  function ended(child: ChildProcess): Promise<number | null> {
    return new Promise((resolve) => {
      child.on('close', resolve);
      child.kill('SIGTERM');
    });
  }

  test('start a gateway on SQLite that writes to its home alone, and end it in order', async () => {
    verifies('R-1');
    const { child, data } = start([...words('CMD'), '--port', '0'], {});
    const url = await listening(child);
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    expect(readdirSync(data).toSorted()).toEqual(
      expect.arrayContaining(['gateway', 'gateway.db']) as string[],
    );
    expect(await ended(child)).toBe(0);
  });

  test(
    'start a gateway on Postgres with the password of the environment, and its health is seen',
    async () => {
      verifies('R-2');
      const { gateway, postgres } = readCompose().services;
      const { POSTGRES_USER: user, POSTGRES_DB: name } = postgres.environment;
      const database = await createTestDatabase();
      onTestFinished(() => database.drop());
      // As the image of Postgres makes them, but with no more rights than the gateway needs.
      const role = `${user}_${randomUUID().replaceAll('-', '')}`;
      const password = 'a long random text';
      await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}';
        GRANT ALL ON SCHEMA public TO ${role}`);
      onTestFinished(async () => {
        await database.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
      });
      const asked = gateway.command.find((word) => word.startsWith('postgres:'));
      expect(asked).toBe(`postgres://${user}@postgres:5432/${name}`);
      const address = new URL(database.url);
      [address.username, address.password] = [role, ''];
      const command = gateway.command.map((word) => (word === asked ? address.href : word));
      const { child, data } = start([...command, '--port', '0'], { PGPASSWORD: password });
      const url = await listening(child);
      const [, file = '', ...args] = gateway.healthcheck.test;
      const probe = (at: string) =>
        spawnSync(here(file), [...args.map((word) => word.replace('http://127.0.0.1:8790', at))]);
      expect(probe(url).status).toBe(0);
      expect(probe('http://127.0.0.1:9').status).toBe(1);
      expect(readdirSync(data)).toEqual(['gateway']);
      expect(
        await database.query("SELECT 1 FROM pg_tables WHERE tablename = 'audit_event'"),
      ).toHaveLength(1);
      expect(await ended(child)).toBe(0);
    },
    POSTGRES_START_MS,
  );
});
