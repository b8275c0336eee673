"""Owns the settings of the ways in, from arguments, the environment and `<home>/config.toml`.

It is read by composition roots only (`api.service`, the command line); everything below is handed what it
needs. It is not the home folder itself (that is `graphmem.home`).
"""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from graphmem.errors import InvalidInputError
from graphmem.home import default_home
from graphmem.question import PieceKind
from graphmem.retention_rules import Rules

DEFAULT_PORT = 7832
CONFIG_NAME = "config.toml"
_PREFIX = "GRAPHMEM_"


class RetentionSettings(BaseModel):
    """What `graphmem prune` takes: a project's most bytes, and days by kind; nothing by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_bytes: int | None = Field(default=None, ge=1)
    days: dict[PieceKind, Annotated[float, Field(ge=1, le=100_000)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        """Refuse a kind that has no limit of age."""
        if PieceKind.DECISION in self.days:
            raise ValueError("decisions have no limit of age")
        return self

    def rules(self) -> Rules:
        """Return the rules of a pruning."""
        return Rules(self.days, self.max_bytes)


class Settings(BaseSettings):
    """What a way in needs to know; an argument beats the environment, that beats `<home>/config.toml`.

    `ignore` are globs, in the manner of gitignore, of files that get no edges; `open_graphs` is how many
    projects with their graphs are kept open at once. `hold` lets a very strong note hold an edit once;
    `disabled` switches capture and notes off, `ranker = false` the ranking model: the closed form ranks.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="ignore", frozen=True)
    _config_file: ClassVar[Path | None] = None

    home: Path
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65_535, description="a number from 0 to 65535")
    ignore: tuple[str, ...] = Field(default=(), description='a list of globs such as ["docs/**", "*.snap"]')
    open_graphs: int = Field(default=16, ge=1, le=256, description="a number from 1 to 256")
    hold: bool = Field(default=False, description="true or false")
    disabled: bool = Field(default=False, description="true or false")
    ranker: bool = Field(default=True, description="true or false")
    retention: RetentionSettings = Field(
        default_factory=RetentionSettings, description="a table of `max_bytes` and days by kind"
    )

    @classmethod
    def load(cls, home: str | os.PathLike[str] | None = None, port: int | None = None) -> Self:
        """Read the settings; `home` and `port` win over everything else where given.

        Raises:
            InvalidInputError: a variable or the file holds something unusable; the sentence says which.
        """
        chosen = Path(home or os.environ.get(_PREFIX + "HOME") or default_home()).expanduser().absolute()
        given = {"home": chosen} if port is None else {"home": chosen, "port": port}
        located = cast(type[Self], type(cls.__name__, (cls,), {"_config_file": chosen / CONFIG_NAME}))
        try:
            return located(**given)
        except ValidationError as error:
            raise _unusable(error, chosen) from error
        except (SettingsError, ValueError, OSError) as error:
            raise InvalidInputError(
                f"{chosen / CONFIG_NAME} can't be read as TOML ({error}): correct or remove it.", "config"
            ) from error

    def apply(self) -> None:
        """Let this process do what no argument carries to where it is done: rank without a model."""
        if not self.ranker:
            from graphmem.ranking_model import switch

            switch(False)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Say which sources count, strongest first."""
        file = TomlConfigSettingsSource(settings_cls, toml_file=cls._config_file)
        return init_settings, env_settings, file


def user_name() -> str:
    """Return the login name of whoever runs this, or `somebody` where the system knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process may run under a number without a name
        return "somebody"


def client_folder(variable: str | None, usual: str) -> Path:
    """Return a client's folder for the user: what `variable` names, or `usual` in the home folder."""
    named = os.environ.get(variable) if variable is not None else None
    return Path(named).expanduser().absolute() if named else Path.home() / usual


def _unusable(error: ValidationError, home: Path) -> InvalidInputError:
    field = str(error.errors()[0]["loc"][0])
    option = "--port, " if field == "port" else ""
    return InvalidInputError(
        f"The setting `{field}` is unusable: give {Settings.model_fields[field].description} by {option}"
        f"{_PREFIX}{field.upper()} or `{field}` in {home / CONFIG_NAME}.",
        field,
    )
