import { Component, type ReactNode } from 'react';
import { BrokenPart } from './connection.tsx';

interface BoundaryProps {
  readonly children: ReactNode;
}

/** What goes wrong in one part of the page leaves the others as they are. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly cause: unknown }> {
  override state = { cause: undefined };

  static getDerivedStateFromError(cause: unknown) {
    return { cause };
  }

  override render(): ReactNode {
    return this.state.cause === undefined ? (
      this.props.children
    ) : (
      <BrokenPart cause={this.state.cause} />
    );
  }
}
