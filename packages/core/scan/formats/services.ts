// Secrets of services whose shape is more than a prefix and a run of characters.
import { ALNUM, BECOMES, EDGE, type PatternRule, SLASH, WORD } from './pattern.ts';

const raw = String.raw;
/** A token begins with a number in Base64: so do its first two digits. */
const DISCORD_HEADS = ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'].flatMap((first) =>
  Array.from('AEIMQUYcgk', (second) => first + second),
);

export const SERVICES: readonly PatternRule[] = [
  {
    name: 'slack-token',
    keywords: ['xoxa', 'xoxb', 'xoxe', 'xoxo', 'xoxp', 'xoxr', 'xoxs', 'xapp-'],
    edge: true,
    pattern: raw`(?:xox[abeoprs](?:\.xox[bp])?-|xapp-\d-)[A-Za-z0-9-]{10,}`,
    cut: raw`(?:xox[abeoprs](?:\.xox[bp])?-|xapp-\d-)[A-Za-z0-9-]{1,10}`,
  },
  {
    name: 'slack-webhook',
    keywords: ['hooks.slack.com'],
    pattern: raw`hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/((?:[\w+-]|\\?/|%2F){20,200})`,
    cut: raw`hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/((?:[\w+-]|\\?/|%2F){1,20})`,
  },
  {
    name: 'twilio-key',
    keywords: ['SK'],
    edge: true,
    pattern: `SK(?:[0-9a-f]{32}|[0-9A-F]{32})(?!${ALNUM})`,
    cut: 'SK(?:[0-9a-f]{6,31}|[0-9A-F]{6,31})',
  },
  {
    name: 'twilio-key',
    keywords: ['twilio'],
    anyCase: true,
    pattern: raw`twilio[\w.-]{0,30}${BECOMES}([0-9a-f]{32})(?!${ALNUM})`,
    cut: raw`twilio[\w.-]{0,30}${BECOMES}([0-9a-f]{1,31})`,
  },
  {
    name: 'sendgrid-key',
    keywords: ['SG.'],
    edge: true,
    pattern: raw`SG\.${WORD}{16,64}\.${WORD}{16,}`,
    cut: raw`SG\.${WORD}{1,64}(?:\.${WORD}{0,64})?`,
  },
  {
    name: 'telegram-token',
    keywords: [':A'],
    pattern: raw`(?<=${EDGE}(?<before>\d{8,10})):A${WORD}{33,35}(?!${WORD})`,
    cut: raw`(?<=${EDGE}(?<before>\d{8,10})):A${WORD}{1,33}`,
  },
  {
    name: 'discord-token',
    keywords: DISCORD_HEADS,
    edge: true,
    pattern: raw`[MNO][A-Za-z0-9]{23,27}\.${WORD}{6}\.${WORD}{27,40}(?!${WORD})`,
    cut: raw`[MNO][A-Za-z0-9]{23,27}\.${WORD}{1,6}(?:\.${WORD}{0,26})?`,
  },
  {
    name: 'discord-webhook',
    keywords: ['discord.com', 'discordapp.com'],
    pattern: raw`discord(?:app)?\.com${SLASH}api${SLASH}webhooks${SLASH}\d{15,22}${SLASH}(${WORD}{50,80})`,
    cut: raw`discord(?:app)?\.com${SLASH}api${SLASH}webhooks${SLASH}\d{15,22}${SLASH}(${WORD}{1,50})`,
  },
  {
    name: 'teams-webhook',
    keywords: ['webhook.office.com'],
    pattern: raw`webhook\.office\.com${SLASH}webhookb2${SLASH}([\w@-]{60,90}${SLASH}IncomingWebhook${SLASH}[a-z0-9]{32}${SLASH}[\w-]{36})`,
    cut: raw`webhook\.office\.com${SLASH}webhookb2${SLASH}((?:[\w@-]|${SLASH}){1,256})`,
  },
  {
    name: 'mailchimp-key',
    keywords: ['-us1', '-us2', '-us3', '-us4', '-us5', '-us6', '-us7', '-us8', '-us9'],
    pattern: raw`(?<=${EDGE}(?<before>[0-9a-f]{32}))-us\d{1,2}(?!${ALNUM})`,
  },
  {
    name: 'mailgun-key',
    keywords: ['key-'],
    edge: true,
    pattern: raw`key-[0-9a-f]{32}(?!${ALNUM})`,
    cut: 'key-[0-9a-f]{6,31}',
  },
  {
    name: 'azure-client-secret',
    keywords: ['8Q~', '7Q~', '6Q~', '9Q~', '5Q~', '4Q~', '3Q~', '2Q~', '1Q~', '0Q~'],
    pattern: raw`(?<=(?<before>[\w.~-]{3}))\dQ~[\w.~-]{31,34}(?![\w.~-])`,
    cut: raw`(?<=(?<before>[\w.~-]{3}))\dQ~[\w.~-]{1,31}`,
  },
  {
    name: 'terraform-token',
    keywords: ['.atlasv1.'],
    pattern: raw`(?<=${EDGE}(?<before>${ALNUM}{14}))\.atlasv1\.[\w=-]{60,70}`,
    cut: raw`(?<=${EDGE}(?<before>${ALNUM}{14}))\.atlasv1\.[\w=-]{1,60}`,
  },
  {
    name: 'maxmind-key',
    keywords: ['_mmk'],
    pattern: raw`(?<=(?<before>\w{6}_${ALNUM}{29}))_mmk(?!\w)`,
  },
  {
    name: 'facebook-token',
    keywords: ['EAA'],
    edge: true,
    pattern: raw`EAA[MC][A-Za-z0-9]{80,400}(?!${ALNUM})`,
    cut: 'EAA[MC][A-Za-z0-9]{8,80}',
  },
  {
    name: 'dropbox-token',
    keywords: ['sl.'],
    edge: true,
    pattern: raw`sl\.${WORD}{130,160}(?!${WORD})`,
    cut: raw`sl\.${WORD}{40,130}`,
  },
  {
    name: 'octopus-key',
    keywords: ['API-'],
    edge: true,
    pattern: raw`API-[A-Z0-9]{25,27}(?!${ALNUM})`,
    cut: 'API-[A-Z0-9]{8,25}',
  },
  {
    name: 'plaid-token',
    keywords: ['access-production-', 'access-development-', 'access-sandbox-'],
    pattern: raw`access-(?:production|development|sandbox)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
    cut: raw`access-(?:production|development|sandbox)-[0-9a-f-]{4,35}`,
  },
  {
    name: '1password-key',
    keywords: ['A3-'],
    edge: true,
    pattern: raw`A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?!${ALNUM})`,
    cut: raw`A3-[A-Z0-9]{6}-[A-Z0-9-]{1,30}`,
  },
  {
    name: 'facebook-token',
    keywords: ['facebook', 'access_token'],
    anyCase: true,
    pattern: raw`(?:facebook|access_token)[\w.-]{0,20}[\s:="'(]{1,8}(\d{15,16}(?:\||%7C)${WORD}{27,40})(?!${WORD})`,
  },
  {
    name: 'newrelic-key',
    keywords: ['NRAL'],
    pattern: raw`(?<=${EDGE}(?<before>(?:[a-z]{2}\d{2}x)?[0-9a-f]{31,36}))NRAL(?!${ALNUM})`,
  },
  {
    name: 'salesforce-token',
    keywords: ['00D'],
    edge: true,
    pattern: raw`00D[A-Za-z0-9]{9,15}!A[\w.]{60,140}`,
    cut: raw`00D[A-Za-z0-9]{9,15}!A?[\w.]{0,60}`,
  },
  {
    name: 'harness-key',
    keywords: ['pat.', 'sat.'],
    edge: true,
    pattern: raw`[ps]at\.${WORD}{22}\.${ALNUM}{24}\.${ALNUM}{20}(?!${ALNUM})`,
    cut: raw`[ps]at\.${WORD}{22}\.[A-Za-z0-9.]{1,44}`,
  },
  {
    name: 'authress-key',
    keywords: ['.acc_', '.acc-'],
    pattern: raw`(?<=${EDGE}(?<before>(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}))\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}`,
    cut: raw`(?<=${EDGE}(?<before>(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}))\.acc[_-][\w.-]{1,60}`,
  },
  {
    name: 'bundler-credentials',
    keywords: ['CONTRIBSYS__COM'],
    pattern: raw`CONTRIBSYS__COM${BECOMES}([0-9a-f]{8}:[0-9a-f]{8})`,
  },
  {
    name: 'curl-password',
    keywords: ['CURLOPT_'],
    pattern: raw`CURLOPT_[A-Z_]{0,20}(?:PASSWORD|PWD|BEARER|PASSWD)[A-Z_]{0,10},\s{0,8}\\{0,7}["']([^"'\\\n]{6,256})`,
  },
];
