// This machine, by the names that nobody can make point elsewhere.
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a host, as `URL` gives it, is this machine: what goes there needs no encryption, and no proxy. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOST.test(hostname);
}
