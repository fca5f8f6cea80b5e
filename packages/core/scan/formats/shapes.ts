// Secrets of no service in particular: keys, tokens, passwords in addresses and headers.
import { type PatternRule, PEM } from './pattern.ts';

const raw = String.raw;
const DATABASE = raw`(?<=(?:postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|oracle|cockroachdb|clickhouse|cassandra|neo4j|bolt|nats|couchdb)(?:\+[a-z0-9]{1,16})?)`;
const AUTHORITY = raw`:\\{0,7}/\\{0,7}/[^\s:@/"'\\<>()[\]]{0,256}(?:@[\w.-]{1,100})?:`;
/** JSON writers may escape the slashes, and escape the escapes. */
const URL_SIGNS = ['://', raw`:\/`, raw`:\\`];
/** A port, a reference to a variable, or stars. */
const NO_PASSWORD = raw`(?!\d{1,5}(?:[/?#"'\s\\]|$)|\$\{?\w{1,64}\}?@|\*{1,64}@|\[)`;

const SQL_USER = raw`\b(?:user|role)\s[^;\n]{1,120}`;
const CURL = raw`(?<=curl\s(?:(?:[^\n|;]|\\\n){0,200}\s)?)`;
const SCHEME =
  'bearer|basic|token|apikey|negotiate|ntlm|digest|api-?token|api-key|key|jwt|oauth|mac|hmac|sso-key|geniekey|splunk|bot|client';

export const SHAPES: readonly PatternRule[] = [
  {
    name: 'private-key',
    keywords: ['-----BEGIN '],
    pattern: PEM,
  },
  {
    name: 'jwt',
    keywords: ['eyJ'],
    pattern: raw`eyJ[\w-]{6,}\.(?:eyJ[\w-]{4,}(?:\.[\w-]*)?|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})`,
    cut: raw`eyJ[\w-]+(?:\.[\w-]*){0,4}`,
    run: raw`[\w-]+`,
  },
  {
    name: 'database-url',
    keywords: URL_SIGNS,
    pattern: raw`${DATABASE}${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>]{1,256})@`,
    cut: raw`${DATABASE}${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>]{1,256})`,
  },
  {
    name: 'basic-auth-url',
    keywords: URL_SIGNS,
    pattern: raw`${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>/]{1,256})@`,
    cut: raw`${AUTHORITY}${NO_PASSWORD}([^\s"'\\<>/]{1,256})`,
  },
  {
    name: 'authorization-header',
    keywords: ['authorization'],
    anyCase: true,
    pattern: raw`authorization\\{0,7}["']?\s{0,4}[:=,]\s{0,4}\\{0,7}["']?(?:(?:${SCHEME})(?:\s|%20){1,4}([^\s"'\\,;]{6,})|([^\s"'\\,;]{16,}))`,
    cut: raw`authorization\\{0,7}["']?\s{0,4}[:=,]\s{0,4}\\{0,7}["']?(?:${SCHEME})(?:\s|%20){1,4}([^\s"'\\,;]{1,6})`,
  },
  {
    name: 'authorization-header',
    keywords: ['bearer'],
    anyCase: true,
    edge: true,
    // Prose has no digits in its words.
    pattern: raw`bearer(?:\s|%20){1,4}(?=[\w.~+/=-]{0,80}\d)([\w.~+/=-]{16,})`,
    cut: raw`bearer(?:\s|%20){1,4}(?=[\w.~+/=-]{0,80}\d)([\w.~+/=-]{1,16})`,
  },
  {
    name: 'sql-password',
    keywords: ['identified by', 'identified with'],
    anyCase: true,
    // Without a quote it is SQL only behind a user: prose says it too.
    pattern: raw`identified (?:with\s{1,4}\S{1,64}\s{1,4})?(?:by|as)\s{1,4}(?:\\{0,7}["'\x60]|(?<=${SQL_USER}identified by\s{1,4}))([^\s"'\x60\\;()]{6,256})`,
    cut: raw`identified by\s{1,4}\\{0,7}["'\x60]?([^\s"'\x60\\;()]{1,6})`,
  },
  {
    name: 'sql-password',
    keywords: [' password '],
    anyCase: true,
    pattern: raw`(?<=${SQL_USER}) password {1,4}(?!expire|history|require|lock|reuse|is\b|for\b)([^\s"'\x60\\;()]{6,256})`,
  },
  {
    name: 'curl-user',
    keywords: ['-u ', '--user '],
    pattern: raw`${CURL}(?:-u|--user) {1,4}\\{0,7}["']?(?:[^\s:"'\\]{0,64}:\\{0,7}["']?([^\s"'\\$]{3,256})|([^\s:"'\\$]{8,64}):["'])`,
    cut: raw`${CURL}(?:-u|--user) {1,4}\\{0,7}["']?[^\s:"'\\]{0,64}:\\{0,7}["']?([^\s"'\\$]{1,256})`,
  },
  {
    name: 'secure-string',
    keywords: ['convertto-securestring'],
    anyCase: true,
    pattern: raw`convertto-securestring(?: -string)?\s{1,4}\\{0,7}["']([^"'\\$\n]{6,256})`,
  },
  {
    name: 'private-key',
    keywords: ['MII'],
    edge: true,
    // RSA keys and PKCS #8 without their armour: a sequence whose first number is zero.
    pattern: raw`MII[A-Za-z0-9+/]{3}IBA(?:A[JK]|DAN|DAL)(?:[A-Za-z0-9+/=]|\s{1,16}(?=[A-Za-z0-9+/=]{16})){100,8192}`,
  },
  {
    name: 'connection-string',
    keywords: ['pwd='],
    anyCase: true,
    edge: true,
    // The working directory has the same name.
    pattern: raw`pwd=(?![/~.\\]|[A-Z]:)([^\s;"'&\\]{6,256})`,
    cut: raw`pwd=(?![/~.\\]|[A-Z]:)([^\s;"'&\\]{1,6})`,
  },
];
