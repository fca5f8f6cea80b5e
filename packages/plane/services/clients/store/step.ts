// The moments between which a process may be killed.

export type Step =
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

export type OnStep = (step: Step) => void;
