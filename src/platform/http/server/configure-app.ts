import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Request, RequestHandler, Response, NextFunction } from 'express';
import helmet from 'helmet';
import { ProblemDetailsFilter } from '../problem-details.filter';
import type { StatusPolicy } from '../../errors/status-policy';
import { BODY_LIMITS, type BodyLimitsByName } from '../body/body-limits';
import { BodyReader, setBodyReader } from '../body/body-reader';
import { BodyValidators } from '../body/body-validators';
import { literalColons } from '../custom-method';
import { apiAdapterOf } from './express-adapter';
import type { DocumentTexts } from '../openapi/document-texts';
import { openApiDocument } from '../openapi/openapi';
import { identifyRequest } from '../request-id';
import { DomainError } from '../../errors/domain-error';

interface AppOptions {
  /** How many reverse proxies may tell the address of the client by X-Forwarded-For. */
  readonly trustProxy?: number;
  /** What Swagger's plugin has read from the DTO classes: the default export of the generated metadata file. */
  readonly pluginMetadata?: () => Promise<Record<string, unknown>>;
  /** What the OpenAPI document says beside the routes. */
  readonly texts?: DocumentTexts;
  /** Most items in a batch; unset: as many as the DTO allows. */
  readonly batchItemsMax?: number;
  /** Sees every request first and its answer last. */
  readonly observer?: RequestHandler | undefined;
  /** The statuses that the operator has chosen for refusals. */
  readonly statusPolicy?: StatusPolicy;
  /** False for a process that only works; it answers operators all the same. */
  readonly servesApi?: boolean;
}

const DOCS_PATH = '/docs';
const HSTS_SECONDS = 365 * 24 * 60 * 60;

/**
 * Everything between the socket and the controllers, the same for the running service and for tests. To be called before
 * `init`, on an application made with ApiExpressAdapter. Returns the OpenAPI document that is served and enforced.
 */
export async function configureApp(app: NestExpressApplication, options: AppOptions = {}): Promise<OpenAPIObject> {
  app.set('trust proxy', options.trustProxy ?? 0);
  const prepared = prepare(identifyRequest, literalColons, sameHeaders(apiHeaders()));
  app.use(options.observer === undefined ? prepared : within(options.observer, prepared));
  if (options.servesApi === false) app.use(serveNoApi);
  app.useGlobalFilters(new ProblemDetailsFilter(options.statusPolicy));
  if (options.pluginMetadata !== undefined) await SwaggerModule.loadPluginMetadata(options.pluginMetadata);
  const document = openApiDocument(app, options.texts, options.statusPolicy);
  const validators = app.get(BodyValidators);
  validators.setDocument(document, options);
  setBodyReader(app, new BodyReader(validators, app.get<BodyLimitsByName>(BODY_LIMITS)));
  const adapter = apiAdapterOf(app);
  adapter.setLastRoutes(() => {
    // By a relative address, which is right behind a proxy with a path of its own too.
    adapter.get('/', (_request: Request, response: Response) => response.redirect(DOCS_PATH.slice(1)));
    app.use(DOCS_PATH, withoutTrailingSlash, onlyDocsFiles, docsHeaders());
    SwaggerModule.setup(DOCS_PATH.slice(1), app, document, {
      raw: ['json'],
      customSiteTitle: document.info.title,
      // The browser keeps the credential for this page, so that a reload does not ask for it again.
      swaggerOptions: { persistAuthorization: true },
    });
  });
  return document;
}

/** For answers that are data: no browser is to run, frame, sniff or embed them. The rest of helmet is about pages. */
function apiHeaders(): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: { maxAge: HSTS_SECONDS, includeSubDomains: false },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  });
}

/** Does something to every request or its answer, and is done at once. */
type Preparation = (request: IncomingMessage, response: ServerResponse) => void;

/** One middleware of several steps: Express looks at a path and a method for each middleware of each request. */
function prepare(...steps: readonly Preparation[]): RequestHandler {
  return (request, response, next) => {
    for (const step of steps) step(request, response);
    next();
  };
}

/** One middleware of two, for the same reason; the outer one must not fail. */
function within(outer: RequestHandler, inner: RequestHandler): RequestHandler {
  return (request, response, next) => outer(request, response, () => inner(request, response, next));
}

/** Sets the headers of a middleware on every answer, without working them out for each: ten steps become one. */
function sameHeaders(middleware: ReturnType<typeof helmet>): Preparation {
  const headers: [string, string][] = [];
  const noting = { setHeader: (name: string, value: string) => void headers.push([name, value]), removeHeader: ignore };
  // The settings above name no functions, so that nothing of request or response is asked for.
  middleware({} as IncomingMessage, noting as unknown as ServerResponse, ignore);
  return (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

function ignore(): void {
  // Nothing to remove, and nobody behind it.
}

/** Swagger UI brings its own scripts, styles its page inline, and calls the service it is served by. */
function docsHeaders(): ReturnType<typeof helmet.contentSecurityPolicy> {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      frameAncestors: ["'none'"],
    },
  });
}

/** The page and what it loads. Swagger UI's folder holds more, its package.json too, which tells a stranger the version. */
const SERVED: ReadonlySet<string> = new Set([
  '/',
  '/swagger-ui-init.js',
  '/swagger-ui.css',
  '/swagger-ui-bundle.js',
  '/swagger-ui-standalone-preset.js',
  '/favicon-16x16.png',
  '/favicon-32x32.png',
]);

/**
 * Leads `/docs/` to `/docs`, by a relative address. The page calls the API beside its own address, and must not stand one step
 * deeper, also behind a proxy with a path of its own.
 */
function withoutTrailingSlash({ originalUrl }: Request, response: Response, next: NextFunction): void {
  const [path = ''] = originalUrl.split('?', 1);
  const folder = /\/([^/]+)\/+$/.exec(path)?.[1];
  if (folder === undefined) next();
  else response.redirect(`../${folder}`);
}

/** Lets only the files through that the documentation page needs; `path` begins below the page. */
function onlyDocsFiles({ path }: Request, _response: Response, next: NextFunction): void {
  if (SERVED.has(path)) next();
  else next(new DomainError('not_found', 'The documentation has no such file; its page is /docs.'));
}

/** What whoever runs the service asks of every process. */
const OPERATORS_PATHS = /^\/(health(\/|$)|metrics$)/;

/** Of a process that only works: it answers operators, and sends everybody else away. */
function serveNoApi(request: Request, _response: Response, next: NextFunction): void {
  if (OPERATORS_PATHS.test(request.path)) next();
  else next(new DomainError('not_found', 'This process serves no API (ROLE=worker). Call one that does.'));
}
