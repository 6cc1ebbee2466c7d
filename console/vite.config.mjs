import { defineConfig } from 'vite';

/** Where the service runs that the development server passes calls on to. */
const SERVICE = process.env.CDS_URL ?? 'http://127.0.0.1:3000';

export default defineConfig(({ command }) => ({
  // Relative addresses in the build: the service knows no prefix that a proxy in front of it adds.
  base: command === 'build' ? './' : '/console/',
  cacheDir: '../node_modules/.vite-console',
  plugins: [command === 'serve' ? absoluteBase : undefined],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // The first browsers with light-dark() and CSS nesting.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    // Base UI marks its modules with 'use client', which means nothing here.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: {
    port: 4150,
    strictPort: true,
    proxy: { '/console/api': { target: SERVICE } },
  },
}));

/** What the service does for the built page. */
const absoluteBase = {
  name: 'absolute-base',
  transformIndexHtml: (html) => html.replace('<base href="./" />', '<base href="/console/" />'),
};
