// Every secret here is made up, and put together from parts so that no scanner takes it for a real one.
import { describe, expect, it } from 'vitest';
import { scanText } from '../detect/index.ts';
import { createRedactor } from '../redact/redactor.ts';

const { redact, plain } = createRedactor({});

const LETTERS = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8';
const random = (length: number) =>
  LETTERS.repeat(Math.ceil(length / LETTERS.length)).slice(0, length);
const hex = (length: number) => '0a9b8c7d6e5f4321'.repeat(8).slice(0, length);
const upper = (length: number) => 'A7B3C5D2E6F4G7H2'.repeat(4).slice(0, length);
const join = (...parts: readonly string[]) => parts.join('');
const PEM_HEAD = join('-----BEGIN ', 'RSA PRIVATE', ' KEY-----');
const PEM_TAIL = join('-----END ', 'RSA PRIVATE', ' KEY-----');
const HEADER = join('ey', 'JhbGciOiJIUzI1NiJ9');
const PAYLOAD = join('ey', 'JzdWIiOiIxMjM0In0');
const AWS_ID = join('AK', 'IA', upper(16));
const AZURE = `${random(86)}==`;

/** The rule, the text, and the part of it that must go. */
const SECRETS: readonly (readonly [rule: string, text: string, secret: string])[] = [
  ['aws-access-key', `id ${AWS_ID} ok`, AWS_ID],
  ['aws-secret-key', `aws_secret_access_key = ${random(40)}`, random(40)],
  ['aws-secret-key', JSON.stringify({ SecretAccessKey: random(40) }), random(40)],
  ['aws-secret-key', `${AWS_ID},${random(40)}`, random(40)],
  ...['p', 'o', 'u', 's', 'r'].map((kind) => {
    const token = join('gh', kind, '_', random(36));
    return ['github-token', `clone ${token} now`, token] as const;
  }),
  ['github-token', join('x github', '_pat_', random(60)), join('github', '_pat_', random(60))],
  ['gitlab-token', join('gl', 'pat-', random(20)), random(20)],
  ...['a', 'b', 'p', 'r', 's'].map((kind) => {
    const token = join('xo', 'x', kind, '-', '123456789012-', random(24));
    return ['slack-token', `slack ${token}`, token] as const;
  }),
  [
    'slack-webhook',
    join('https://hooks.', 'slack.com/services/T0000/B0000/', random(24)),
    random(24),
  ],
  ['stripe-key', join('sk', '_live_', random(24)), random(24)],
  ['stripe-key', join('rk', '_live_', random(24)), random(24)],
  ['openai-key', join('sk', '-', random(48)), random(48)],
  ['openai-key', join('sk', '-proj-', random(40), '_-', random(40)), random(40)],
  ['anthropic-key', join('sk', '-ant-', 'api03-', random(80)), random(80)],
  ['google-api-key', join('AI', 'za', random(35)), random(35)],
  ['google-oauth-token', join('ya', '29.', random(60)), random(60)],
  [
    'gcp-service-account',
    JSON.stringify({ private_key: `${PEM_HEAD}\n${random(64)}\n${PEM_TAIL}\n` }),
    random(64),
  ],
  ['gcp-service-account', JSON.stringify({ private_key_id: hex(40) }), hex(40)],
  ['azure-key', join('AccountName=a;Account', 'Key=', AZURE, ';Suffix=b'), AZURE],
  ['azure-key', join('Endpoint=sb://a/;SharedAccess', 'Key=', random(43), '='), random(43)],
  ['azure-sas', join('https://a.example/b?sv=2024&si', 'g=', random(43), '%3D'), random(43)],
  ['npm-token', join('np', 'm_', random(36)), random(36)],
  ['pypi-token', join('py', 'pi-AgEI', random(80)), random(80)],
  ['twilio-key', join('S', 'K', hex(32)), hex(32)],
  ['twilio-key', `TWILIO_AUTH: ${hex(32)}`, hex(32)],
  ['sendgrid-key', join('S', 'G.', random(22), '.', random(43)), random(43)],
  ['jwt', `${HEADER}.${PAYLOAD}.${random(43)}`, random(43)],
  ['jwt', `${HEADER}.${random(40)}.${random(16)}.${random(50)}.${random(22)}`, random(50)],
  ['private-key', `${PEM_HEAD}\n${random(64)}\n${random(30)}==\n${PEM_TAIL}`, random(30)],
  ['private-key', `${PEM_HEAD}\nProc-Type: 4,ENCRYPTED\n\n${random(64)}`, random(64)],
  ['database-url', 'postgresql://app:s3cr/et@db.example/app', 's3cr/et'],
  ['database-url', 'redis://:hunter22@cache.example:6379', 'hunter22'],
  ['database-url', 'mongodb+srv://app:hunter22@db.example/app', 'hunter22'],
  ['basic-auth-url', 'https://bob:hunter22@git.example/a.git', 'hunter22'],
  ['basic-auth-url', String.raw`https:\/\/bob:hunter22@git.example\/a.git`, 'hunter22'],
  ['authorization-header', `Authorization: Bearer ${random(12)}`, random(12)],
  ['authorization-header', 'authorization: Basic Ym9iOmh1bnRlcg==', 'Ym9iOmh1bnRlcg'],
  ['authorization-header', JSON.stringify({ Authorization: `Bearer ${random(20)}` }), random(20)],
  ['authorization-header', JSON.stringify([['authorization', `token ${random(20)}`]]), random(20)],
  ['authorization-header', `curl: sent bearer ${random(20)}`, random(20)],
  ['connection-string', 'Server=db;Uid=app;Pwd=hunter22;', 'hunter22'],
  ['assignment', '{"db_password":"hunter22"}', 'hunter22'],
  ['assignment', '{"password":"hun\\"ter22"}', 'ter22'],
  ['assignment', JSON.stringify({ body: '{"client_secret":"hunter22"}' }), 'hunter22'],
  ['assignment', JSON.stringify({ env: 'A=1\nAPI_KEY=hunter22\nB=2' }), 'hunter22'],
  ['assignment', 'https://a.example/?token=hunter22&page=2', 'hunter22'],
  ['assignment', "export DB_PASSWD='hunter 22'", 'hunter 22'],
  ['assignment', 'database:\n  password: correcthorse\n', 'correcthorse'],
  ['assignment', '- access_key: correcthorse', 'correcthorse'],
  ['assignment', 'Server=db;Password=p(1)[2]{3};', 'p(1)[2]{3}'],
  ['assignment', 'X-Api-Key: hunter22', 'hunter22'],
  ['assignment', 'login failed, password: hunter22', 'hunter22'],
  ['assignment', '{"apikey": 12345678}', '12345678'],
];

const VALUE = 'Xk9vQ2mB7zTp4';

/** Where each notation puts the value: losing one fails by its name. */
const NOTATIONS: readonly (readonly [notation: string, rule: string, text: string])[] = [
  ['#define of C', 'assignment', `#define TOKEN "${VALUE}"`],
  ['#define of C, bare', 'assignment', `#define TOKEN ${VALUE}`],
  ['%define of an assembler', 'assignment', `%define token ${VALUE}`],
  ['PASSWORD of SQL, quoted', 'assignment', `ALTER ROLE app WITH PASSWORD '${VALUE}';`],
  ['PASSWORD of SQL, in double quotes', 'assignment', `ALTER ROLE app WITH PASSWORD "${VALUE}";`],
  ['PASSWORD of SQL, bare', 'sql-password', `CREATE ROLE app LOGIN PASSWORD ${VALUE};`],
  ['IDENTIFIED BY of SQL', 'sql-password', `CREATE USER app IDENTIFIED BY '${VALUE}';`],
  ['curl -u', 'curl-user', `curl -u bob:${VALUE} https://a.example`],
  ['curl --user', 'curl-user', `curl --user 'bob:${VALUE}' https://a.example`],
  [
    'ConvertTo-SecureString of PowerShell',
    'secure-string',
    `ConvertTo-SecureString "${VALUE}" -AsPlainText -Force`,
  ],
  ['an XML element', 'assignment', `<token>${VALUE}</token>`],
  ['XML attributes', 'assignment', `<add key="password" value="${VALUE}" />`],
  ['a call with name and value', 'assignment', `set("TOKEN", "${VALUE}")`],
  ['a constructor of C++', 'assignment', `std::string secret("${VALUE}");`],
  ['assign() of C++', 'assignment', `secret.assign("${VALUE}");`],
  ['a comparison behind the value', 'assignment', `if ("${VALUE}" == password) {`],
  ['a comparison before the value', 'assignment', `if (password == "${VALUE}") {`],
  ['a long flag', 'assignment', `mysqldump --password ${VALUE} app`],
  ['a long flag with its sign', 'assignment', `mysqldump --password=${VALUE} app`],
  ['a typed variable of Go', 'assignment', `var apiKey string = "${VALUE}"`],
  ['a short declaration of Go', 'assignment', `token := "${VALUE}"`],
  ['a typed variable of TypeScript', 'assignment', `const token: string = '${VALUE}';`],
  ['a hash of Ruby', 'assignment', `:password => '${VALUE}'`],
  ['an index', 'assignment', `config["password"] = "${VALUE}"`],
  ['YAML', 'assignment', `database:\n  password: ${VALUE}\n`],
  ['YAML in a list, quoted', 'assignment', `- access_key: '${VALUE}'`],
  ['.env', 'assignment', `API_KEY=${VALUE}\nDEBUG=1`],
  ['.env with export', 'assignment', `export DB_PASSWORD='${VALUE}'`],
  ['.properties', 'assignment', `spring.datasource.password = ${VALUE}`],
  ['.ini', 'assignment', `[db]\npasswd=${VALUE}`],
  ['JSON', 'assignment', JSON.stringify({ client_secret: VALUE })],
  [
    'JSON escaped in JSON',
    'assignment',
    JSON.stringify({ body: JSON.stringify({ client_secret: VALUE }) }),
  ],
  [
    'JSON escaped in JSON that is escaped in JSON',
    'assignment',
    JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ client_secret: VALUE }) }) }),
  ],
  ['a query of an address', 'assignment', `https://a.example/?token=${VALUE}&page=2`],
  ['a header', 'assignment', `X-Api-Key: ${VALUE}`],
];

const BENIGN: readonly string[] = [
  join('AK', 'IA is how ids begin'),
  join('AK', 'IA', random(16)),
  'SecretAccessKey: see the vault',
  join('gh', 'p_ is the prefix, gh', 'p_short is none'),
  'github_pat_ and glpat- are prefixes',
  'a single-page site with xoxo-hugs',
  'https://hooks.slack.com/services/ is the address',
  'task_live_abcdefghijklmnopqrstuvwxyz',
  'a risk-assessment-of-the-disk-abcdefghijklmnop',
  'sk-fading-circle sk-cube-grid-for-everyone',
  'AIzawa is a name',
  '"private_key_id": "unknown"',
  'AccountKey=short;',
  'sig=ok and &sig=ok',
  'npm_config_registry npm_lifecycle_event npm_package_json_version',
  'pypi-AgEnda and pypi-server',
  `ask${hex(32)} SKU-1234`,
  'SG.com and MSG.header.body',
  'eyJust.a.word and eyJ.eyJ.eyJ',
  join('-----BEGIN ', 'PUBLIC KEY-----\nabc\n-----END ', 'PUBLIC KEY-----'),
  'https://a.example:8080/path@v1 http://localhost:3000',
  'postgres://localhost:5432/app?mail=a@b.example',
  'postgres://app:${DB_PASSWORD}@db.example/app',
  'git@github.com:a/b.git and http://a.example/@user',
  'Authorization: Bearer token',
  'authorization required, a bearer authentication-challenge follows',
  'PWD=/home/bob/project\nOLDPWD=/home/bob',
  '{"max_tokens": 1234567, "total_tokens": 1234567, "token_type": "bearer"}',
  '{"password": {"type": "string", "minLength": 8}, "token": null}',
  '{"password": "string", "secret": "${DB_SECRET}"}',
  'Unexpected token: identifier',
  'const token = lexer.nextToken();\n  token: string;\n  secret = options.secret;',
  'password=*** token=$TOKEN secret={{ vault.secret }} api_key=abc',
  'the secret is out; a token of thanks; passwords: none',
];

describe('known formats', () => {
  it.each(SECRETS)('%s: %s', (rule, text, secret) => {
    const { text: safe, found } = redact(text);
    expect(safe).not.toContain(secret);
    expect(safe).toContain(`[REDACTED:${rule}]`);
    expect(found).toContain(rule);
    expect(plain(safe)).toBe(safe);
  });

  it.each(SECRETS.filter(([, text]) => text.startsWith('{')))(
    'keeps JSON valid: %s: %s',
    (_, text) => {
      expect(() => JSON.parse(plain(text)) as unknown).not.toThrow();
    },
  );

  it.each(SECRETS)('keeps JSON valid around %s: %s', (rule, text, secret) => {
    const json = JSON.stringify({ a: `\n${text}\n`, nested: JSON.stringify({ b: text }) });
    const safe = plain(json);
    expect(JSON.parse(safe)).toHaveProperty('nested');
    expect(safe).toContain(rule);
    expect(safe).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  it.each(NOTATIONS)('found and redacted in the notation: %s', (_notation, rule, text) => {
    const { text: safe, found } = redact(text);
    expect(found).toEqual([rule]);
    expect(safe).toBe(text.replace(VALUE, `[REDACTED:${rule}]`));
    const json = JSON.stringify({ note: text });
    expect(plain(json)).toBe(json.replace(VALUE, `[REDACTED:${rule}]`));
    const { findings } = scanText(text, { fingerprint: () => '', classes: ['secret'] });
    expect(findings.map(({ start, end }) => text.slice(start, end))).toEqual([VALUE]);
  });

  it.each(BENIGN)('leaves alone: %s', (text) => {
    expect(redact(text)).toEqual({ text, found: [] });
  });

  it('keeps what is around a secret', () => {
    expect(plain('{"user":"bob","password":"hunter22","n":1}')).toBe(
      '{"user":"bob","password":"[REDACTED:assignment]","n":1}',
    );
    expect(plain('postgres://app:hunter22@db.example/app')).toBe(
      'postgres://app:[REDACTED:database-url]@db.example/app',
    );
    expect(plain('?token=hunter22&page=2')).toBe('?token=[REDACTED:assignment]&page=2');
    expect(plain('{"apikey": 12345678}')).toBe('{"apikey": "[REDACTED:assignment]"}');
  });

  it('calls an overlap by the more telling name', () => {
    const token = join('gh', 'p_', random(36));
    expect(redact(`{"token":"${token}"}`)).toEqual({
      text: '{"token":"[REDACTED:github-token]"}',
      found: ['github-token'],
    });
  });
});

describe('known formats in a cut text', () => {
  it.each(SECRETS.filter(([, text]) => !text.includes('sent bearer')))(
    '%s is not half shown: %s',
    (_rule, text, secret) => {
      // Cut inside of the secret: nothing that is left of it may show.
      const from = text.indexOf(secret);
      for (const length of [Math.ceil(secret.length / 2), secret.length - 1]) {
        const shown = secret.slice(0, length);
        const safe = plain(text.slice(0, from + length), { truncated: true });
        expect(safe.endsWith(shown), safe).toBe(false);
        expect(plain(safe, { truncated: true })).toBe(safe);
      }
    },
  );

  it('leaves the end of a text alone that is whole', () => {
    const text = join('see gh', 'p_', random(8));
    expect(plain(text)).toBe(text);
    expect(plain(text, { truncated: true })).toBe('see [REDACTED:github-token]');
  });
});
