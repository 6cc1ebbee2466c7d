import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Request, RequestHandler, Response, NextFunction } from 'express';
import helmet from 'helmet';
import { ProblemDetailsFilter } from '../problem-details.filter';
import type { StatusPolicy } from '../../errors/status-policy';
import { BODY_LIMITS, type BodyLimitsByName } from '../body/json-body';
import { BodyReader, setBodyReader } from '../body/json-body.decorator';
import { BodyValidators, completeSchemas, type Schemas } from '../body/body-validators';
import { literalColons } from '../custom-method';
import { apiAdapterOf } from './express-adapter';
import { type DocumentTexts, NO_TEXTS } from '../openapi/document-texts';
import { openApiDocument } from '../openapi/openapi';
import { identifyRequest } from '../request-id';
import { DomainError } from '../../errors/domain-error';

interface AppOptions {
  /** The number of reverse proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy?: number;
  /** The output of Swagger's plugin for the DTO classes: the default export of the generated metadata file. */
  readonly pluginMetadata?: () => Promise<Record<string, unknown>>;
  /** The texts of the OpenAPI document. */
  readonly texts?: DocumentTexts;
  /** Most items in a batch; unset: as many as the DTO allows. */
  readonly batchItemsMax?: number;
  /** The schemas of bodies, where they are known without the document. */
  readonly bodySchemas?: (() => Schemas) | undefined;
  /** A middleware before all others. */
  readonly observer?: RequestHandler | undefined;
  /** The statuses that the operator has chosen for refusals. */
  readonly statusPolicy?: StatusPolicy;
  /** Pages for browsers, and what they call. */
  readonly site?: Site | undefined;
  /** False for a worker process, which serves only health and metrics. */
  readonly servesApi?: boolean;
}

const DOCS_PATH = '/docs';
const HSTS_SECONDS = 365 * 24 * 60 * 60;

/**
 * Configures everything between the socket and the controllers, the same for the service and for tests. Call it before `init`,
 * on an application with `ApiExpressAdapter`. Returns the OpenAPI document that is served and enforced; it is made when it is
 * first asked for, because that takes a tenth of a second.
 */
export async function configureApp(
  app: NestExpressApplication,
  options: AppOptions = {},
): Promise<() => OpenAPIObject> {
  app.set('trust proxy', options.trustProxy ?? 0);
  if (options.observer !== undefined) app.use(options.observer);
  app.use(identifyRequest, literalColons, orSite(options.site, apiHeaders()));
  if (options.servesApi === false) app.use(serveNoApi);
  app.useGlobalFilters(new ProblemDetailsFilter(options.statusPolicy));
  if (options.pluginMetadata !== undefined) await SwaggerModule.loadPluginMetadata(options.pluginMetadata);
  const document = once(() => servedDocument(app, options));
  const validators = app.get(BodyValidators);
  validators.setSchemas(options.bodySchemas ?? (() => document().components?.schemas ?? {}), options);
  setBodyReader(app, new BodyReader(validators, app.get<BodyLimitsByName>(BODY_LIMITS)));
  const adapter = apiAdapterOf(app);
  adapter.setLastRoutes(() => {
    // A relative address is right behind a proxy with a path prefix too.
    adapter.get('/', (_request: Request, response: Response) => response.redirect(DOCS_PATH.slice(1)));
    app.use(DOCS_PATH, withoutTrailingSlash, onlyDocsFiles, docsHeaders());
    SwaggerModule.setup(DOCS_PATH.slice(1), app, document, {
      raw: ['json'],
      customSiteTitle: (options.texts ?? NO_TEXTS).title,
      // The browser stores the credential for this page, so that it survives a reload.
      swaggerOptions: { persistAuthorization: true },
    });
  });
  return document;
}

function servedDocument(app: NestExpressApplication, options: AppOptions): OpenAPIObject {
  const document = openApiDocument(app, options.texts, options.statusPolicy);
  completeSchemas(document.components?.schemas ?? {}, options);
  return document;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The requests below a path that browsers load pages from. */
export interface Site {
  /** Without a slash at its end. */
  readonly path: string;
  /** Answers a request, or passes it on to the routes. It sets the headers that browsers need. */
  readonly handle: RequestHandler;
}

/** One middleware for both: a request of the API pays for the comparison alone. */
function orSite(site: Site | undefined, others: RequestHandler): RequestHandler {
  if (site === undefined) return others;
  const { path, handle } = site;
  return (request, response, next) => {
    if (!request.url.startsWith(path)) others(request, response, next);
    else void handle(request, response, next);
  };
}

/** Headers for data: browsers must not run, frame, sniff or embed it. The other headers of helmet concern pages. */
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

/** Swagger UI needs its own scripts, inline styles, and calls to the service. */
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

/** The page and its files. Swagger UI's folder has more, also its package.json, which would reveal the version. */
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
 * Redirects `/docs/` to `/docs` by a relative address. The page calls the API relative to its own address, so it must not be
 * one level deeper, also behind a proxy with a path prefix.
 */
function withoutTrailingSlash({ originalUrl }: Request, response: Response, next: NextFunction): void {
  const [path = ''] = originalUrl.split('?', 1);
  const folder = /\/([^/]+)\/+$/.exec(path)?.[1];
  if (folder === undefined) next();
  else response.redirect(`../${folder}`);
}

/** Serves only the files that the documentation page needs. `path` begins below the page. */
function onlyDocsFiles({ path }: Request, _response: Response, next: NextFunction): void {
  if (SERVED.has(path)) next();
  else next(new DomainError('not_found', 'The documentation has no such file; its page is /docs.'));
}

/** The routes for operators, which every process serves. */
const OPERATORS_PATHS = /^\/(health(\/|$)|metrics$)/;

/** In a worker process: answers 404 for all other routes. */
function serveNoApi(request: Request, _response: Response, next: NextFunction): void {
  if (OPERATORS_PATHS.test(request.path)) next();
  else next(new DomainError('not_found', 'This process serves no API (ROLE=worker). Call one that does.'));
}
