// A hub in a process of its own, to be stopped and killed.
import { isFailure } from '@subluminal/contracts';
import { sha256 } from '../../../os/crypto/index.ts';
import { openHub } from '../open.ts';
import { RUN } from './scenario.ts';

const [path = ''] = process.argv.slice(2);
const nowMs = () => Math.floor(performance.now());
const opened = await openHub({ runId: RUN, nowMs, sha256, listen: { kind: 'unix', path } });
process.stdout.write(`${isFailure(opened) ? opened.message : opened.endpoint}\n`);
