// The people whom the user knows, as guardrails.yaml lists them.
import { closed, defaulted, string } from '@subluminal/contracts/shape';
import { type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import type { StewardContacts } from '../../egress/index.ts';

export interface ContactsServerOptions {
  /** As they are now: the user may edit them. */
  readonly contacts: () => StewardContacts;
}

const SHOWN_MAX = 100;

const LIST = closed({
  search: defaulted(
    string({ lengthMin: 0, lengthMax: 200 }),
    '',
    'Part of a name, an address or a handle; all of them without it.',
  ),
});

export function contactsServer({ contacts }: ContactsServerOptions): OwnServer {
  return {
    name: 'contacts',
    tools: [
      ownTool({
        name: 'list',
        description: 'Lists people whom the user knows, with their addresses and handles.',
        input: LIST,
        annotations: { readOnlyHint: true },
        call: ({ search }) => {
          const lines = contacts().map(({ name, emails, handles }) =>
            [name, ...emails, ...handles].join(', '),
          );
          const found = lines.filter((line) => line.toLowerCase().includes(search.toLowerCase()));
          const more = found.length - SHOWN_MAX;
          const shown = [...found.slice(0, SHOWN_MAX), ...(more > 0 ? [`… and ${more} more`] : [])];
          return Promise.resolve({ text: shown.join('\n') || 'There is no such contact.' });
        },
      }),
    ],
  };
}
