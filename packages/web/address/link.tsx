import type { ComponentProps, MouseEvent } from 'react';
import { type AddressChange, changedAddress, goTo, useAddress } from './address.ts';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href' | 'onClick'> {
  readonly to: AddressChange;
  /** Called before the link is followed here. */
  readonly onFollow?: (() => void) | undefined;
}

/** A link inside the page: a real one, so that it can be opened in another tab. */
export function Link({ to, onFollow, children, ...rest }: LinkProps) {
  useAddress();
  const follow = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!isPlain) return;
    event.preventDefault();
    onFollow?.();
    goTo(to);
  };
  return (
    <a {...rest} href={changedAddress(to)} onClick={follow}>
      {children}
    </a>
  );
}
