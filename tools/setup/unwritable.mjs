// A checkout that cannot be written is nobody's defect: one sentence, no stack.
import { ROOT } from './paths.mjs';

const CODES = new Set(['EACCES', 'EPERM', 'EROFS']);
const SENTENCE = `The checkout cannot be written. Make ${ROOT} writable for you, or copy it to where you can write.`;

function isUnwritable(cause) {
  return CODES.has(cause?.code);
}

/** For tools that write: whatever they throw because of that is told and ends them with 1. */
function explainUnwritable(tool) {
  process.on('uncaughtException', (cause) => {
    if (isUnwritable(cause)) {
      process.stderr.write(`${tool}: ${SENTENCE} (${cause.code} at ${cause.path ?? ROOT})\n`);
    } else {
      process.stderr.write(`${cause?.stack ?? cause}\n`);
    }
    process.exit(1);
  });
}

export { explainUnwritable, isUnwritable, SENTENCE };
