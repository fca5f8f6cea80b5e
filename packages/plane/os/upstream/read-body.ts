// An answer that comes whole.
import type { AnswerBody } from './exchange.ts';
import { fault, type UpstreamFault } from './fault.ts';

export function readAnswerBody(
  body: AnswerBody,
  bytesMax: number,
): Promise<Buffer | UpstreamFault> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    body.read({
      onPart: (bytes) => {
        length += bytes.length;
        if (length <= bytesMax) return void parts.push(bytes);
        resolve(fault('malformed', `The answer of the upstream is larger than ${bytesMax} bytes.`));
        body.destroy();
      },
      onEnd: (why) => {
        const [first] = parts;
        const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
        resolve(why ?? whole);
      },
    });
  });
}
