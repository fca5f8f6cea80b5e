// Keys of the large clouds.
import { ALNUM, BECOMES, EDGE, type PatternRule, PEM } from './pattern.ts';

const raw = String.raw;
const AWS_ID = raw`(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}`;
const AWS_IDS = ['A3T', 'AKIA', 'ASIA', 'ABIA', 'ACCA'];
const AWS_SECRET = raw`secret[_-]?(?:access[_-]?)?key${BECOMES}`;
/** Base64 as JSON writers may leave it, with the slash escaped. */
const BASE64_CHAR = raw`(?:[A-Za-z0-9+=]|\\?/)`;

export const CLOUDS: readonly PatternRule[] = [
  {
    name: 'aws-access-key',
    keywords: AWS_IDS,
    pattern: `${AWS_ID}(?!${ALNUM})`,
    cut: raw`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{1,15}`,
  },
  {
    name: 'aws-secret-key',
    keywords: AWS_IDS,
    pattern: raw`${AWS_ID}[\s,;:|"'\\]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    cut: raw`${AWS_ID}[\s,;:|"'\\]{1,8}([A-Za-z0-9/+]{1,40})`,
  },
  {
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
  },
  {
    name: 'aws-presigned-url',
    keywords: ['X-Amz-Signature=', 'X-Amz-Security-Token='],
    pattern: raw`X-Amz-(?:Signature|Security-Token)=([A-Za-z0-9%+/=]{32,2048})`,
    cut: raw`X-Amz-(?:Signature|Security-Token)=([A-Za-z0-9%+/=]{1,32})`,
  },
  {
    name: 'azure-key',
    keywords: ['JQQJ99'],
    pattern: raw`(?<=${EDGE}(?<before>[A-Za-z0-9]{40,60}))JQQJ99[A-Za-z0-9+/]{20,44}={0,2}`,
  },
  {
    name: 'gcp-service-account',
    keywords: ['private_key'],
    pattern: raw`private_key\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"(${PEM})`,
  },
  {
    name: 'gcp-service-account',
    keywords: ['private_key_id'],
    pattern: `private_key_id${BECOMES}([0-9a-f]{40})`,
    cut: `private_key_id${BECOMES}([0-9a-f]{1,40})`,
  },
  {
    name: 'azure-key',
    keywords: ['accountkey=', 'sharedaccesskey=', 'sharedaccesssignature='],
    anyCase: true,
    pattern: raw`\w{7,21}=([^\s;"'&<>]{20,512})(?<!\\)`,
    cut: raw`\w{7,21}=([^\s;"'&<>\\]{1,64})`,
  },
  {
    name: 'azure-sas',
    keywords: ['sig='],
    pattern: raw`(?<=[?&;]|\\u0026)sig=([A-Za-z0-9%+/=]{40,256})`,
    cut: raw`(?<=[?&;]|\\u0026)sig=([A-Za-z0-9%+/=]{1,40})`,
  },
];
