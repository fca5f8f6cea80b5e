interface RowButtonProps {
  readonly word: string;
  /** What it is about, for those who do not see the row. */
  readonly label: string;
  readonly look: 'accent' | 'danger';
  readonly onClick: () => void;
}

/** A button inside a row: as low as the row. */
export function RowButton({ word, label, look, onClick }: RowButtonProps) {
  const color = look === 'danger' ? 'text-danger' : 'text-accent';
  return (
    <button
      type="button"
      aria-label={`${word} ${label}`}
      className={`${color} hover:underline`}
      onClick={onClick}
    >
      {word}
    </button>
  );
}
