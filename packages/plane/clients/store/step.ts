// The moments between which a process may be killed.

type Step =
  | 'locked'
  | 'read'
  | 'planned'
  | 'base written'
  | 'record written'
  | 'base in place'
  | 'draft made'
  | 'draft written'
  | 'compared'
  | 'replaced'
  | 'kept aside'
  | 'record dropped'
  | 'base dropped'
  | 'done';

type OnStep = (step: Step) => void;

export type { OnStep, Step };
