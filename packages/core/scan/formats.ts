// The secret formats that are known by their looks, as data.
import { EDGE, patternRule, tokenRule } from './pattern.ts';
import type { Rule } from './types.ts';

const raw = String.raw;
const ALNUM = '[A-Za-z0-9]';
const WORD = raw`[\w-]`;
/** Between a key and its value: quotes at any depth of JSON in JSON, and the sign. */
const BECOMES = raw`\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?`;
const AWS_ID = raw`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}`;
const AWS_IDS = ['AKIA', 'ASIA', 'ABIA', 'ACCA'];
const AWS_SECRET = raw`secret[_-]?(?:access[_-]?)?key${BECOMES}`;
/** Base64 as JSON writers may leave it, with the slash escaped. */
const BASE64_CHAR = raw`(?:[A-Za-z0-9+=]|\\?/)`;
// Two dashes end the body, so that a run of opening lines is read once.
const PEM_BODY = raw`(?:[A-Za-z0-9+/=\s:,.()]|\\+(?=[nrtu])|-(?!-)){0,32768}`;
const PEM = raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----${PEM_BODY}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`;
const DATABASE = raw`(?<=(?:postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|oracle|cockroachdb|clickhouse|cassandra|neo4j|bolt|nats|couchdb)(?:\+[a-z0-9]{1,16})?)`;
const AUTHORITY = raw`:\\{0,7}/\\{0,7}/[^\s:@/"'\\<>]{0,256}:`;
/** JSON writers may escape the slashes, and escape the escapes. */
const URL_SIGNS = ['://', raw`:\/`, raw`:\\`];
/** A port, a reference to a variable, or stars. */
const NO_PASSWORD = raw`(?!\d{1,5}(?:[/?#"'\s\\]|$)|\$\{?\w{1,64}\}?@|\*{1,64}@)`;

const CLOUDS: readonly Rule[] = [
  patternRule({
    name: 'aws-access-key',
    keywords: AWS_IDS,
    pattern: `${AWS_ID}(?!${ALNUM})`,
    cut: raw`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{1,15}`,
  }),
  patternRule({
    name: 'aws-secret-key',
    keywords: AWS_IDS,
    pattern: raw`${AWS_ID}[\s,;:|"'\\]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    cut: raw`${AWS_ID}[\s,;:|"'\\]{1,8}([A-Za-z0-9/+]{1,40})`,
  }),
  patternRule({
    name: 'aws-secret-key',
    keywords: [
      'secretaccesskey',
      'secret_access_key',
      'secret-access-key',
      'secret_key',
      'secretkey',
    ],
    anyCase: true,
    pattern: `${AWS_SECRET}(${BASE64_CHAR}{40,80})`,
    cut: `${AWS_SECRET}(${BASE64_CHAR}{1,40})`,
  }),
  tokenRule({
    name: 'google-api-key',
    prefix: 'AIza',
    keywords: ['AIza'],
    chars: WORD,
    lengthMin: 35,
  }),
  tokenRule({
    name: 'google-oauth-token',
    prefix: raw`ya29\.|GOCSPX-`,
    keywords: ['ya29.', 'GOCSPX-'],
    chars: WORD,
    lengthMin: 20,
  }),
  patternRule({
    name: 'gcp-service-account',
    keywords: ['private_key'],
    pattern: raw`private_key\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"(${PEM})`,
  }),
  patternRule({
    name: 'gcp-service-account',
    keywords: ['private_key_id'],
    pattern: `private_key_id${BECOMES}([0-9a-f]{40})`,
    cut: `private_key_id${BECOMES}([0-9a-f]{1,40})`,
  }),
  patternRule({
    name: 'azure-key',
    keywords: ['accountkey=', 'sharedaccesskey=', 'sharedaccesssignature='],
    anyCase: true,
    pattern: raw`\w{7,21}=([^\s;"'&<>]{20,512})(?<!\\)`,
    cut: raw`\w{7,21}=([^\s;"'&<>\\]{1,64})`,
  }),
  patternRule({
    name: 'azure-sas',
    keywords: ['sig='],
    pattern: raw`(?<=[?&;]|\\u0026)sig=([A-Za-z0-9%+/=]{40,256})`,
    cut: raw`(?<=[?&;]|\\u0026)sig=([A-Za-z0-9%+/=]{1,40})`,
  }),
];

const SERVICES: readonly Rule[] = [
  tokenRule({
    name: 'github-token',
    prefix: 'gh[pousr]_',
    keywords: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    chars: raw`\w`,
    lengthMin: 30,
  }),
  tokenRule({
    name: 'github-token',
    prefix: 'github_pat_',
    keywords: ['github_pat_'],
    chars: raw`\w`,
    lengthMin: 22,
  }),
  tokenRule({
    name: 'gitlab-token',
    prefix: 'gl(?:pat|dt|rt|ptt|cbt|ft|soat|oas|imt)-',
    keywords: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glptt-',
      'glcbt-',
      'glft-',
      'glsoat-',
      'gloas-',
      'glimt-',
    ],
    chars: raw`[\w.-]`,
    lengthMin: 20,
    edge: true,
  }),
  tokenRule({
    name: 'slack-token',
    prefix: raw`xox[abeoprs](?:\.xox[bp])?-|xapp-\d-`,
    keywords: ['xoxa', 'xoxb', 'xoxe', 'xoxo', 'xoxp', 'xoxr', 'xoxs', 'xapp-'],
    chars: '[A-Za-z0-9-]',
    lengthMin: 10,
    edge: true,
  }),
  patternRule({
    name: 'slack-webhook',
    keywords: ['hooks.slack.com'],
    pattern: raw`hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/((?:[\w+-]|\\?/|%2F){20,200})`,
    cut: raw`hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/((?:[\w+-]|\\?/|%2F){1,20})`,
  }),
  tokenRule({
    name: 'stripe-key',
    prefix: '[sr]k_(?:live|test)_',
    keywords: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'],
    chars: ALNUM,
    lengthMin: 16,
    edge: true,
  }),
  tokenRule({
    name: 'anthropic-key',
    prefix: 'sk-ant-',
    keywords: ['sk-ant-'],
    chars: WORD,
    lengthMin: 20,
    edge: true,
  }),
  tokenRule({
    name: 'openai-key',
    prefix: 'sk-(?:proj|svcacct|admin|or-v1)-',
    keywords: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-or-v1-'],
    chars: WORD,
    lengthMin: 20,
    edge: true,
  }),
  tokenRule({
    name: 'openai-key',
    prefix: 'sk-',
    keywords: ['sk-'],
    chars: ALNUM,
    lengthMin: 32,
    edge: true,
  }),
  tokenRule({
    name: 'npm-token',
    prefix: 'npm_',
    keywords: ['npm_'],
    chars: ALNUM,
    lengthMin: 30,
    edge: true,
  }),
  tokenRule({
    name: 'pypi-token',
    prefix: 'pypi-AgE[IN]',
    keywords: ['pypi-AgE'],
    chars: WORD,
    lengthMin: 30,
  }),
  patternRule({
    name: 'twilio-key',
    keywords: ['SK'],
    pattern: `${EDGE}SK[0-9a-f]{32}(?!${ALNUM})`,
    cut: `${EDGE}SK[0-9a-f]{6,31}`,
  }),
  patternRule({
    name: 'twilio-key',
    keywords: ['twilio'],
    anyCase: true,
    pattern: raw`twilio[\w.-]{0,30}${BECOMES}([0-9a-f]{32})(?!${ALNUM})`,
    cut: raw`twilio[\w.-]{0,30}${BECOMES}([0-9a-f]{1,31})`,
  }),
  patternRule({
    name: 'sendgrid-key',
    keywords: ['SG.'],
    pattern: raw`${EDGE}SG\.${WORD}{16,64}\.${WORD}{16,}`,
    cut: raw`${EDGE}SG\.${WORD}{1,64}(?:\.${WORD}{0,64})?`,
  }),
];

const SHAPES: readonly Rule[] = [
  patternRule({
    name: 'private-key',
    keywords: ['-----BEGIN '],
    pattern: PEM,
  }),
  patternRule({
    name: 'jwt',
    keywords: ['eyJ'],
    pattern: raw`eyJ[\w-]{6,}\.(?:eyJ[\w-]{4,}(?:\.[\w-]*)?|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})`,
    cut: raw`eyJ[\w-]+(?:\.[\w-]*){0,4}`,
    run: raw`[\w-]+`,
  }),
  patternRule({
    name: 'database-url',
    keywords: URL_SIGNS,
    pattern: raw`${DATABASE}${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>]{1,256})@`,
    cut: raw`${DATABASE}${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>]{1,256})`,
  }),
  patternRule({
    name: 'basic-auth-url',
    keywords: URL_SIGNS,
    pattern: raw`${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>/]{1,256})@`,
    cut: raw`${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>/]{1,256})`,
  }),
  patternRule({
    name: 'authorization-header',
    keywords: ['authorization'],
    anyCase: true,
    pattern: raw`authorization\\{0,7}["']?\s{0,4}[:=,]\s{0,4}\\{0,7}["']?(?:(?:bearer|basic|token|apikey|negotiate)(?:\s|%20){1,4}([^\s"'\\,;]{6,})|([^\s"'\\,;]{16,}))`,
    cut: raw`authorization\\{0,7}["']?\s{0,4}[:=,]\s{0,4}\\{0,7}["']?(?:bearer|basic|token|apikey|negotiate)(?:\s|%20){1,4}([^\s"'\\,;]{1,6})`,
  }),
  patternRule({
    name: 'authorization-header',
    keywords: ['bearer'],
    anyCase: true,
    // Prose has no digits in its words.
    pattern: raw`${EDGE}bearer(?:\s|%20){1,4}(?=[\w.~+/=-]{0,80}\d)([\w.~+/=-]{16,})`,
    cut: raw`${EDGE}bearer(?:\s|%20){1,4}(?=[\w.~+/=-]{0,80}\d)([\w.~+/=-]{1,16})`,
  }),
  patternRule({
    name: 'connection-string',
    keywords: ['pwd='],
    anyCase: true,
    // The working directory has the same name.
    pattern: raw`${EDGE}pwd=(?![/~.\\]|[A-Z]:)([^\s;"'&\\]{6,256})`,
    cut: raw`${EDGE}pwd=(?![/~.\\]|[A-Z]:)([^\s;"'&\\]{1,6})`,
  }),
];

/** The more telling name first: it is the one that an overlap is called by. */
const FORMATS: readonly Rule[] = [...CLOUDS, ...SERVICES, ...SHAPES];

export { FORMATS };
