import { bad, calm, type EventMember } from './types.ts';

export const secretInjection: EventMember<'secret_injection'> = {
  names: ({ secret }) => secret,
  notice({ secret }) {
    const { secret_ref, inject_as, source, success, server_name } = secret;
    const into = server_name === undefined ? inject_as : `${inject_as} of ${server_name}`;
    return success
      ? calm('·', `secret ${secret_ref} given as ${into} (from ${source})`)
      : bad('!', `secret ${secret_ref} is missing: ${into} was not set (from ${source})`);
  },
};
