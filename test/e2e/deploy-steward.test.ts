// The files of `deploy/steward/`: what they say, and whether Steward lives in what they leave it. There is no container
// engine here, so the commands of the compose file run on this machine, with its environment and its folders.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSource, treeValue } from '@subluminal/core/policy';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { ROOT, SUB } from './sub.ts';

const FOLDER = `${ROOT}deploy/steward/`;
const TIMEOUT_MS = 60_000;
const read = (name: string) => readFileSync(FOLDER + name, 'utf8');

interface Service {
  readonly [key: string]: unknown;
  readonly command: readonly string[];
  readonly environment: { readonly [name: string]: string };
  readonly networks: readonly string[];
  readonly tmpfs: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: { readonly steward: Service; readonly egress: Service };
  readonly networks: { readonly inside: object; readonly outside: object | null };
  readonly secrets: { readonly [name: string]: { readonly file: string } };
}

const compose = (() => {
  const source = readSource({ file: 'compose.yaml', bytes: readFileSync(`${FOLDER}compose.yaml`) });
  if (!source.ok) throw new Error(JSON.stringify(source.problems));
  return treeValue(source.tree) as Compose;
})();
const { steward, egress } = compose.services;

/** The instructions of a file, without comments. */
const lines = (text: string) => text.split('\n').filter((line) => /^[^#\s]/.test(line));

describe('the image of Steward', () => {
  const [, build = '', image = ''] = read('Dockerfile').split(/^(?=FROM )/m);

  test('is built as that of the gateway is, and leaves the same files out', () => {
    const [, other = ''] = readFileSync(`${ROOT}deploy/Dockerfile`, 'utf8').split(/^(?=FROM )/m);
    expect(lines(build)).toEqual(lines(other.replace(' --omit=optional', '')));
    expect(read('Dockerfile.dockerignore')).toBe(
      readFileSync(`${ROOT}deploy/Dockerfile.dockerignore`, 'utf8'),
    );
  });

  test('runs as a user who is not root, with its scratch folder as home', () => {
    verifies('ST-4-ring0');
    expect(lines(image)).toEqual(
      expect.arrayContaining([
        'USER 1000:1000',
        expect.stringMatching(/^ENV .*SUB_HOME=\/data HOME=\/tmp\/workspace /),
        'CMD ["steward", "start", "--foreground"]',
      ]),
    );
  });
});

describe('the compose file of Steward', () => {
  test.each(Object.entries(compose.services))(
    '%s has a read-only root, no capability and no port',
    (_name, service) => {
      verifies('ST-4-ring0');
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      for (const key of ['ports', 'privileged', 'network_mode', 'cap_add', 'devices', 'pid']) {
        expect(service).not.toHaveProperty(key);
      }
    },
  );

  test('the scratch folder is in memory, and of the user alone', () => {
    verifies('ST-4-ring0');
    expect(steward.tmpfs).toContainEqual(
      expect.stringMatching(/^\/tmp\/workspace:mode=0700,uid=1000,gid=1000,size=\d+m/),
    );
  });

  test('the egress proxy is the only way out', () => {
    verifies('ST-4-ring0');
    expect(compose.networks.inside).toEqual({ internal: true });
    expect(steward.networks).toEqual(['inside']);
    expect(egress.networks).toEqual(['inside', 'outside']);
    expect(steward.environment['HTTPS_PROXY']).toBe('http://egress:3128');
    expect(steward.environment['HTTP_PROXY']).toBe('http://egress:3128');
  });

  test('no secret is in the environment or in git', () => {
    verifies('ST-4-ring0');
    const names = Object.keys(steward.environment).toSorted();
    expect(names).toEqual(['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'SUB_VAULT_PASSPHRASE_FILE']);
    for (const path of ['secrets/vault-passphrase', 'config/integrations.yaml']) {
      const asked = spawnSync('git', ['check-ignore', '-q', FOLDER + path], { cwd: ROOT });
      expect(asked.status, path).toBe(0);
    }
  });
});

describe('the egress proxy', () => {
  const rules = lines(read('squid.conf'));

  test('lets tunnels to listed hosts through after everything else was refused', () => {
    verifies('ST-4-ring0');
    expect(rules.filter((line) => line.startsWith('http_access'))).toEqual([
      'http_access deny !tunnel',
      'http_access deny !tls_ports',
      'http_access deny !allowed_hosts',
      'http_access deny private_networks',
      'http_access allow all',
    ]);
    expect(rules).toContain('acl allowed_hosts dstdomain -n "/etc/squid/allowed-hosts.txt"');
    expect(rules).toContain('acl tunnel method CONNECT');
  });

  test('lists single hosts, none of them for everybody', () => {
    for (const host of lines(read('allowed-hosts.txt'))) {
      expect(host).toMatch(/^\.?(?:[a-z0-9-]+\.)+[a-z]{2,}$/);
    }
  });
});

describe('the unit of systemd', () => {
  const unit = lines(read('steward.service'));

  test('has no right that Steward does not need, and no way out but this machine', () => {
    verifies('ST-4-ring0');
    expect(unit).toEqual(
      expect.arrayContaining([
        'User=steward',
        'NoNewPrivileges=yes',
        'CapabilityBoundingSet=',
        'ProtectSystem=strict',
        'ProtectHome=yes',
        'PrivateTmp=yes',
        'IPAddressDeny=any',
        'IPAddressAllow=localhost',
        'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6',
        'SystemCallFilter=@system-service',
      ]),
    );
    expect(unit.filter((line) => /KEY|TOKEN|PASSWORD/.test(line))).toEqual([]);
    // Without /proc/sys, processes in the unit and outside of it know each other by different names.
    expect(unit.filter((line) => line.startsWith('ProcSubset='))).toEqual([]);
  });

  const args = ['security', '--offline=true', '--threshold=20', `${FOLDER}steward.service`];
  const judged = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  test.skipIf(judged.error !== undefined)('is judged to be hardly exposed by systemd', () => {
    expect(judged.status, judged.stdout + judged.stderr).toBe(0);
  });
});

test(
  'Steward starts with the environment of the compose file, is seen as healthy, and ends in order',
  async () => {
    verifies('ST-4-ring0');
    const folder = mkdtempSync(join(tmpdir(), 'sub-deploy-steward-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    for (const name of ['data', 'config', 'run/secrets', 'tmp/workspace']) {
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
    const passphrase = join(folder, 'run/secrets/vault-passphrase');
    writeFileSync(passphrase, 'a long random text\n', { mode: 0o600 });
    const env = {
      ...steward.environment,
      SUB_VAULT_PASSPHRASE_FILE: passphrase,
      SUB_HOME: join(folder, 'data'),
      HOME: join(folder, 'tmp/workspace'),
      PATH: process.env['PATH'] ?? '',
    };
    const here = (words: readonly string[]) =>
      words.map((word) => (word === '/config' ? join(folder, 'config') : word));
    const sub = (words: readonly string[], input = '') =>
      spawnSync(process.execPath, [SUB, ...here(words)], {
        env,
        input,
        cwd: '/',
        encoding: 'utf8',
      });

    // The commands that the head of the file names.
    const commands = [
      ...read('compose.yaml').matchAll(/^# {3}docker compose \S+ \S+ run --rm steward (.+)$/gm),
    ].map(([, words = '']) => words.split(' '));
    expect(commands).toHaveLength(2);
    for (const words of commands) {
      expect(sub(words, 'a-key-of-tests\n')).toMatchObject({ status: 0 });
    }

    const child = spawn(process.execPath, [SUB, ...here(steward.command)], {
      ...{ env, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] },
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
      sub(['ledgerd', '--stop']);
    });
    await said(child, 'It answers on');
    const [, ...probe] = steward.healthcheck.test;
    expect(sub(probe.slice(1))).toMatchObject({ status: 0 });
    // All that it has written is in its home, its configuration and its scratch folder.
    expect(readdirSync(folder).toSorted()).toEqual(['config', 'data', 'run', 'tmp']);
    expect(readdirSync(join(folder, 'tmp'))).toEqual(['workspace']);
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(sub(probe.slice(1))).toMatchObject({ status: 1 });
  },
  TIMEOUT_MS,
);

/** Resolves when the log says it. */
function said(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes(words)) resolve();
    });
    child.on('close', (code) => reject(new Error(`ended with ${code}:\n${log}`)));
  });
}
