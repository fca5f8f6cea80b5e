// A sample for every format of the table and every word that it is known by. All are made here, when
// a test runs, so that no file holds anything that looks like a secret.
import { FORMATS } from './index.ts';
import { TOKENS } from './tokens.ts';

export interface Sample {
  /** The format's place in the table, and its name. */
  readonly index: number;
  readonly rule: string;
  /** A text that holds the secret, with as much around it as the format needs. */
  readonly text: string;
  /** What must not be kept or shown. */
  readonly secret: string;
}

type Draw = (chars: string, length: number) => string;
type Made = Pick<Sample, 'text' | 'secret'>;
type Make = (keyword: string, draw: Draw) => Made;

const UNITS = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index));
const ALNUM = '[A-Za-z0-9]';
const HEX = '[0-9a-f]';
const UPPER = '[A-Z2-7]';
const SEED = 0x2545_f491;

/** Draws characters of a class, others each time and the same in each run. */
function createDraw(seed: number): Draw {
  let state = (seed * 2_654_435_761) ^ SEED;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return (chars, length) => {
    const one = new RegExp(`^(?:${chars})$`);
    // Two signs in a row would end some formats.
    const plain = UNITS.filter((unit) => one.test(unit) && /[A-Za-z0-9]/.test(unit));
    return Array.from({ length }, () => plain[next() % plain.length]).join('');
  };
}

const whole = (secret: string): Made => ({ text: `value ${secret} ok`, secret });
const behind = (before: string, secret: string, after = ''): Made => ({
  text: before + secret + after,
  secret,
});
const PRIVATE_KEY = ['PRIVATE', 'KEY'].join(' ');
const pem = (draw: Draw) => `-----BEGIN ${PRIVATE_KEY}-----\n${draw(ALNUM, 96)}\n`;
/** The sign of an address as JSON writers escape it: `://`, `:\\/\\/`, or with escapes escaped. */
const escapedSlashes = (keyword: string) => {
  const escape = keyword.slice(1).replaceAll('/', '');
  return `:${escape}/${escape}/`;
};
const uuid = (draw: Draw) => [8, 4, 4, 4, 12].map((length) => draw(HEX, length)).join('-');

/** How samples are made of formats that are more than a prefix and what follows it. */
const MAKES: { readonly [rule: string]: Make | readonly Make[] } = {
  'aws-access-key': (keyword, draw) => whole(keyword.padEnd(4, 'B') + draw(UPPER, 16)),
  'aws-secret-key': [
    (keyword, draw) => behind(`${keyword.padEnd(4, 'B')}${draw(UPPER, 16)} `, draw(ALNUM, 40)),
    (keyword, draw) => behind(`${keyword}: "`, draw(ALNUM, 40), '"'),
  ],
  'gcp-service-account': [
    (keyword, draw) => behind(`"${keyword}": "`, pem(draw), '"'),
    (keyword, draw) => behind(`"${keyword}": "`, draw(HEX, 40), '"'),
  ],
  'aws-presigned-url': (keyword, draw) =>
    behind(`https://a.example/?a=1&${keyword}`, draw(HEX, 64)),
  'azure-key': (keyword, draw) =>
    keyword.endsWith('=')
      ? behind(`Name=a;${keyword}`, `${draw(ALNUM, 43)}=`, ';')
      : whole(draw(ALNUM, 52) + keyword + draw(ALNUM, 26)),
  'azure-sas': (keyword, draw) => behind(`https://a.example/?sv=1&${keyword}`, draw(ALNUM, 43)),
  'slack-token': (keyword, draw) =>
    whole(`${keyword}${keyword.endsWith('-') ? '1-' : '-'}${draw(ALNUM, 24)}`),
  'slack-webhook': (keyword, draw) => behind(`https://${keyword}/services/`, draw(ALNUM, 30)),
  'twilio-key': [
    (keyword, draw) => whole(keyword + draw(HEX, 32)),
    (keyword, draw) => behind(`${keyword}_auth: "`, draw(HEX, 32), '"'),
  ],
  'sendgrid-key': (keyword, draw) => whole(`${keyword}${draw(ALNUM, 22)}.${draw(ALNUM, 43)}`),
  'telegram-token': (keyword, draw) => whole(draw('[1-9]', 10) + keyword + draw(ALNUM, 33)),
  'discord-token': (keyword, draw) =>
    whole(`${keyword}${draw(ALNUM, 24)}.${draw(ALNUM, 6)}.${draw(ALNUM, 38)}`),
  'discord-webhook': (keyword, draw) =>
    behind(`https://${keyword}/api/webhooks/${draw('[1-9]', 18)}/`, draw(ALNUM, 68)),
  'teams-webhook': (keyword, draw) => {
    const path = `${uuid(draw)}@${uuid(draw)}/IncomingWebhook/${draw(HEX, 32)}/${uuid(draw)}`;
    return behind(`https://a.${keyword}/webhookb2/`, path);
  },
  'mailchimp-key': (keyword, draw) => whole(draw(HEX, 32) + keyword),
  'mailgun-key': (keyword, draw) => whole(keyword + draw(HEX, 32)),
  'azure-client-secret': (keyword, draw) => whole(draw(ALNUM, 3) + keyword + draw(ALNUM, 34)),
  'terraform-token': (keyword, draw) => whole(draw(ALNUM, 14) + keyword + draw(ALNUM, 67)),
  'maxmind-key': (keyword, draw) => whole(`${draw(ALNUM, 6)}_${draw(ALNUM, 29)}${keyword}`),
  'facebook-token': (keyword, draw) =>
    keyword === 'EAA'
      ? whole(`${keyword}C${draw(ALNUM, 120)}`)
      : behind(`${keyword}: `, `${draw('[1-9]', 16)}|${draw(ALNUM, 27)}`),
  '1password-key': (keyword, draw) =>
    whole(`${keyword}${[6, 6, 5, 5, 5, 5].map((length) => draw(UPPER, length)).join('-')}`),
  'salesforce-token': (keyword, draw) => whole(`${keyword}${draw(ALNUM, 12)}!A${draw(ALNUM, 80)}`),
  'newrelic-key': (keyword, draw) => whole(draw(HEX, 36) + keyword),
  'harness-key': (keyword, draw) =>
    whole(`${keyword}${draw(ALNUM, 22)}.${draw(ALNUM, 24)}.${draw(ALNUM, 20)}`),
  'authress-key': (keyword, draw) =>
    whole(`sc_${draw(ALNUM, 12)}.${draw(ALNUM, 4)}${keyword}${draw(ALNUM, 16)}.${draw(ALNUM, 40)}`),
  'bundler-credentials': (keyword, draw) =>
    behind(`BUNDLE_GEMS__${keyword}="`, `${draw(HEX, 8)}:${draw(HEX, 8)}`, '"'),
  'curl-password': (keyword, draw) =>
    behind(`curl_easy_setopt(c, ${keyword}PASSWORD, "`, draw(ALNUM, 16), '");'),
  'secure-string': (keyword, draw) => behind(`${keyword} "`, draw(ALNUM, 16), '"'),
  'dropbox-token': (keyword, draw) => whole(keyword + draw(ALNUM, 140)),
  'octopus-key': (keyword, draw) => whole(keyword + draw(UPPER, 26)),
  'plaid-token': (keyword, draw) => whole(keyword + uuid(draw)),
  'private-key': (keyword, draw) =>
    keyword === 'MII'
      ? whole(`${keyword}EpAIBAAK${draw(ALNUM, 200)}`)
      : behind('', `${keyword}RSA ${PRIVATE_KEY}-----\n${draw(ALNUM, 200)}\n`),
  jwt: (keyword, draw) =>
    whole(`${keyword}${draw(ALNUM, 20)}.${keyword}${draw(ALNUM, 30)}.${draw(ALNUM, 43)}`),
  'database-url': (keyword, draw) => {
    return behind(`postgres${escapedSlashes(keyword)}app:`, draw(ALNUM, 20), '@db.example/app');
  },
  'basic-auth-url': (keyword, draw) => {
    return behind(`https${escapedSlashes(keyword)}app:`, draw(ALNUM, 20), '@git.example/app');
  },
  'authorization-header': (keyword, draw) =>
    keyword === 'bearer'
      ? behind(`sent ${keyword} `, `1${draw(ALNUM, 24)}`)
      : behind(`${keyword}: Token `, draw(ALNUM, 24)),
  'connection-string': (keyword, draw) => behind(`Server=db;${keyword}`, draw(ALNUM, 16), ';'),
  'sql-password': (keyword, draw) =>
    keyword.endsWith(' ')
      ? behind(`CREATE ROLE app LOGIN${keyword}`, draw(ALNUM, 16), ';')
      : behind(`ALTER USER app ${keyword.replace('with', 'with a by')} '`, draw(ALNUM, 16), "'"),
  'curl-user': (keyword, draw) =>
    behind(`curl ${keyword}app:`, draw(ALNUM, 16), ' https://a.example'),
  assignment: [
    (keyword, draw) => behind(`"${keyword}": "`, draw(ALNUM, 24), '"'),
    // Some keywords bring the sign, or the quote before it.
    (keyword, draw) => behind(keyword, draw(ALNUM, 24)),
    (keyword, draw) => behind(`${keyword}: "`, draw(ALNUM, 24), '"'),
    (keyword, draw) => behind(`${keyword}": \\"`, draw(ALNUM, 24), '\\"'),
    (keyword, draw) => behind(`${keyword}app = "`, draw(ALNUM, 24), '"'),
    (keyword, draw) => behind(`if (${keyword}= "`, draw(ALNUM, 24), '")'),
  ],
};

function makesOf(rule: string): readonly Make[] {
  const made = MAKES[rule];
  if (made === undefined) return [];
  return typeof made === 'function' ? [made] : made;
}

/** The token that is written in the table, with one character more than it needs. */
function tokenMake(rule: string, keyword: string): Make | undefined {
  const token = TOKENS.find(({ name, prefixes }) => name === rule && prefixes.includes(keyword));
  if (token === undefined) return undefined;
  return (prefix, draw) => whole(prefix + draw(token.chars, token.lengthMin + 1));
}

/** One sample for every word of every format. */
export function formatSamples(): readonly Sample[] {
  return FORMATS.flatMap(({ name, keywords, match }, index) =>
    keywords.map((keyword, nth) => {
      const own = tokenMake(name, keyword);
      const draw = createDraw(index * 64 + nth + 1);
      for (const make of own === undefined ? makesOf(name) : [own]) {
        const { text, secret } = make(keyword, draw);
        const found = match({ text, at: text.indexOf(keyword), truncated: false });
        if (found !== undefined) return { index, rule: name, text, secret };
      }
      throw new Error(`there is no sample of ${name} with ${keyword}`);
    }),
  );
}
