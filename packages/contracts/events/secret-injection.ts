// A secret that a server got, or should have got.
import { boolean, closed, oneOf, open, optional, required, string } from '../shape/shape.ts';

const SECRET_INJECTION_FIELDS = {
  inject_as: required(string(), 'The environment variable of the server.'),
  secret_ref: required(string(), 'The name of the secret.'),
  source: required(oneOf('env', 'keychain', 'file', 'vault'), 'Where it came from.'),
  success: required(boolean(), 'Whether it was found and injected.'),
  server_name: optional(string(), 'Since 0.2.0: the server that got it.'),
} as const;

export const SECRET_INJECTION = {
  secret: required(open(SECRET_INJECTION_FIELDS), 'Which secret, never its value.'),
} as const;

/** Closed for producers: no field may ever carry the secret itself. */
export const SECRET_INJECTION_WRITTEN = {
  secret: required(closed(SECRET_INJECTION_FIELDS), 'Never its value.'),
} as const;
