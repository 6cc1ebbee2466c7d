import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './design/tokens.css';
import './design/base.css';
import { takeSignInProblem } from './api/sign-in-problem';
import { App } from './shell/app';
import { SignInFailed } from './shell/sign-in-failed';
import { applyStoredTheme } from './shell/theme';

applyStoredTheme();
const root = document.getElementById('root');
if (root !== null) {
  const problem = takeSignInProblem();
  createRoot(root).render(
    <StrictMode>{problem === undefined ? <App /> : <SignInFailed problem={problem} />}</StrictMode>,
  );
}
