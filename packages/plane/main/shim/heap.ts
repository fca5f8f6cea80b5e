// The launcher keeps V8's room for young objects small: most shims have little to do, and there are
// many of them. One that has much to do lets it grow, else it would collect all the time.
import { setFlagsFromString } from 'node:v8';

const CALLS_BUSY = 200;
const V8_KNOWN = /^1[1-4]\./;

/** True when a shim with so many calls behind it is busy, and its heap may grow from now on. */
function growWhenBusy(callsTotal: number): boolean {
  if (callsTotal < CALLS_BUSY) return false;
  // A later V8 may have another name for it, and would say so on stderr.
  if (V8_KNOWN.test(process.versions.v8)) setFlagsFromString('--semi-space-growth-factor=2');
  return true;
}

export { growWhenBusy };
