-- The role that Turnkeep serves as. It owns nothing, so the policies bind it: a transaction sees the
-- rows of one tenant. `turnkeep migrate --grant serving`, run as the owner, lets it read and write.
-- The image of PostgreSQL runs this once, when it makes an empty database.
\set ON_ERROR_STOP on
\getenv password TURNKEEP_SERVING_PASSWORD
CREATE ROLE serving LOGIN PASSWORD :'password';
