// Secret formats of more services, beside those that the redactor knows. Each is known by its
// prefix; those without one are left to the word before them.
import { EDGE, patternRule, tokenRule } from '../../pattern.ts';
import type { Rule } from '../../types.ts';

const raw = String.raw;
const ALNUM = '[A-Za-z0-9]';
const WORD = raw`[\w-]`;
const HEX = '[0-9a-fA-F]';

/** The rule's name, what its tokens begin with, of what and of how many characters they are. */
const PREFIXED: readonly (readonly [
  name: string,
  prefixes: readonly string[],
  chars: string,
  lengthMin: number,
])[] = [
  ['1password-token', ['ops_eyJ'], WORD, 60],
  ['adafruit-key', ['aio_'], ALNUM, 28],
  ['age-secret-key', ['AGE-SECRET-KEY-1'], '[A-Z0-9]', 50],
  ['airtable-token', ['patAT', 'pat0'], raw`[\w.]`, 60],
  ['artifactory-key', ['AKCp', 'cmVmdGtu'], ALNUM, 50],
  ['atlassian-token', ['ATATT3', 'ATCTT3', 'ATBB'], raw`[\w=-]`, 20],
  ['clojars-token', ['CLOJARS_'], ALNUM, 40],
  ['cloudflare-key', ['v1.0-'], raw`[a-f0-9-]`, 100],
  ['databricks-token', ['dapi'], raw`[a-f0-9-]`, 32],
  ['digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], HEX, 60],
  ['docker-token', ['dckr_pat_', 'dckr_oat_'], WORD, 24],
  ['doppler-token', ['dp.pt.', 'dp.st.', 'dp.ct.'], raw`[\w.]`, 40],
  ['duffel-token', ['duffel_live_', 'duffel_test_'], raw`[\w=-]`, 40],
  ['dynatrace-token', ['dt0c01.'], raw`[\w.]`, 80],
  ['easypost-key', ['EZAK', 'EZTK'], ALNUM, 50],
  ['elevenlabs-key', ['xi-api-'], ALNUM, 32],
  ['figma-token', ['figd_', 'figu_'], WORD, 36],
  ['fireworks-key', ['fw_'], ALNUM, 24],
  ['flutterwave-key', ['FLWSECK-', 'FLWSECK_TEST-'], '[a-zA-Z0-9-]', 12],
  ['fly-token', ['fo1_', 'fm1_', 'fm2_', 'fm1a_', 'fm1r_'], raw`[\w+/=-]`, 43],
  ['frameio-token', ['fio-u-'], raw`[\w=-]`, 60],
  ['grafana-token', ['glsa_', 'glc_'], raw`[\w+/=]`, 32],
  ['groq-key', ['gsk_'], ALNUM, 48],
  ['heroku-key', ['HRKU-'], raw`[\w-]`, 32],
  ['huggingface-token', ['hf_', 'api_org_'], ALNUM, 30],
  ['infracost-key', ['ico-'], ALNUM, 32],
  ['langfuse-key', ['sk-lf-'], raw`[a-f0-9-]`, 32],
  ['langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], raw`\w`, 32],
  ['linear-key', ['lin_api_', 'lin_oauth_'], ALNUM, 32],
  ['mapbox-token', ['sk.eyJ'], raw`[\w.-]`, 60],
  ['netlify-token', ['nfp_', 'nfc_'], ALNUM, 36],
  ['newrelic-key', ['NRAK-', 'NRJS-', 'NRII-', 'NRRA-'], raw`[\w-]`, 19],
  ['notion-token', ['ntn_', 'secret_'], ALNUM, 43],
  ['nuget-key', ['oy2'], '[a-z0-9]', 43],
  ['openshift-token', ['sha256~'], raw`[\w-]`, 43],
  ['perplexity-key', ['pplx-'], ALNUM, 40],
  ['planetscale-token', ['pscale_tkn_', 'pscale_oauth_', 'pscale_pw_'], raw`[\w=.-]`, 32],
  ['postman-key', ['PMAK-'], raw`[a-f0-9-]`, 50],
  ['prefect-key', ['pnu_', 'pnb_'], ALNUM, 36],
  ['pulumi-token', ['pul-'], HEX, 40],
  ['readme-key', ['rdme_'], '[a-z0-9]', 60],
  ['replicate-token', ['r8_'], ALNUM, 36],
  ['rubygems-key', ['rubygems_'], HEX, 48],
  ['sendinblue-key', ['xkeysib-', 'xsmtpsib-'], '[a-f0-9A-Za-z-]', 60],
  ['sentry-token', ['sntrys_', 'sntryu_'], raw`[\w+/=]`, 60],
  ['shippo-token', ['shippo_live_', 'shippo_test_'], HEX, 40],
  ['shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], HEX, 32],
  ['sonar-token', ['squ_', 'sqp_', 'sqa_'], HEX, 40],
  ['sourcegraph-token', ['sgp_', 'slk_'], raw`\w`, 40],
  ['square-token', ['sq0atp-', 'sq0csp-', 'EAAAE'], WORD, 22],
  ['stripe-webhook-secret', ['whsec_'], raw`[\w+/=]`, 32],
  ['supabase-token', ['sbp_', 'sb_secret_'], WORD, 30],
  ['tailscale-key', ['tskey-'], '[a-zA-Z0-9-]', 20],
  ['tavily-key', ['tvly-'], WORD, 28],
  ['together-key', ['tgp_v1_'], WORD, 40],
  ['typeform-token', ['tfp_'], raw`[\w.=-]`, 44],
  ['vault-token', ['hvs.', 'hvb.', 'hvr.'], WORD, 24],
  ['vercel-token', ['vcp_', 'vck_', 'vercel_blob_rw_'], ALNUM, 24],
  ['voyage-key', ['pa-'], WORD, 43],
  ['xai-key', ['xai-'], ALNUM, 60],
  ['yandex-key', ['AQVN', 't1.9eu'], raw`[\w.=-]`, 35],
];

const escaped = (text: string) => text.replaceAll(/[.]/g, String.raw`\.`);

const SHAPED: readonly Rule[] = [
  patternRule({
    name: 'telegram-token',
    keywords: [':AA'],
    pattern: raw`(?<=(?<![A-Za-z0-9])\d{8,10}):AA${WORD}{32,34}(?!${WORD})`,
  }),
  patternRule({
    name: 'discord-token',
    keywords: ['MT', 'Nz', 'OD', 'ND', 'NT', 'Nj'],
    pattern: raw`${EDGE}[MNO][A-Za-z0-9]{23,27}\.${WORD}{6}\.${WORD}{27,40}(?!${WORD})`,
  }),
  patternRule({
    name: 'discord-webhook',
    keywords: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    pattern: raw`discord(?:app)?\.com/api/webhooks/\d{15,22}/(${WORD}{50,80})`,
  }),
  patternRule({
    name: 'teams-webhook',
    keywords: ['webhook.office.com/'],
    pattern: raw`webhook\.office\.com/webhookb2/([\w@-]{60,90}/IncomingWebhook/[a-z0-9]{32}/[\w-]{36})`,
  }),
  patternRule({
    name: 'mailchimp-key',
    keywords: ['-us'],
    pattern: raw`(?<=(?<![0-9A-Za-z])[0-9a-f]{32})-us\d{1,2}(?!${ALNUM})`,
  }),
  patternRule({
    name: 'mailgun-key',
    keywords: ['key-'],
    pattern: raw`${EDGE}key-[0-9a-f]{32}(?!${ALNUM})`,
  }),
  patternRule({
    name: 'azure-client-secret',
    keywords: ['8Q~', '7Q~', '6Q~', '9Q~', '5Q~', '4Q~', '3Q~', '2Q~', '1Q~', '0Q~'],
    pattern: raw`(?<=[\w.~-]{3})\dQ~[\w.~-]{31,34}(?![\w.~-])`,
  }),
  patternRule({
    name: 'terraform-token',
    keywords: ['.atlasv1.'],
    pattern: raw`(?<=(?<!${ALNUM})${ALNUM}{14})\.atlasv1\.[\w=-]{60,70}`,
  }),
  patternRule({
    name: 'maxmind-key',
    keywords: ['_mmk'],
    pattern: raw`(?<=\w{6}_${ALNUM}{29})_mmk(?!\w)`,
  }),
  patternRule({
    name: 'facebook-token',
    keywords: ['EAA'],
    pattern: raw`${EDGE}EAA[MC][A-Za-z0-9]{80,400}(?!${ALNUM})`,
  }),
  patternRule({
    name: 'dropbox-token',
    keywords: ['sl.'],
    pattern: raw`${EDGE}sl\.${WORD}{130,160}(?!${WORD})`,
  }),
  patternRule({
    name: 'octopus-key',
    keywords: ['API-'],
    pattern: raw`${EDGE}API-[A-Z0-9]{25,27}(?!${ALNUM})`,
  }),
  patternRule({
    name: 'plaid-token',
    keywords: ['access-production-', 'access-development-', 'access-sandbox-'],
    pattern: raw`access-(?:production|development|sandbox)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
  }),
];

const SERVICES: readonly Rule[] = [
  ...PREFIXED.map(([name, prefixes, chars, lengthMin]) =>
    tokenRule({
      name,
      prefix: prefixes.map(escaped).join('|'),
      keywords: prefixes,
      chars,
      lengthMin,
      edge: true,
    }),
  ),
  ...SHAPED,
];

export { SERVICES };
