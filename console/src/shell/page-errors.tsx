import { Component, type ReactNode } from 'react';
import { Failed } from '../design/state-views';

interface Props {
  readonly children: ReactNode;
}

/** Keeps the shell when a page throws, or when its file is gone after an update of the service. */
export class PageErrors extends Component<Props, { readonly error: unknown }> {
  override readonly state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return <Failed error={this.state.error} onRetry={() => location.reload()} />;
  }
}
