"""The node as an ament_python package; pip install ../ has it as well."""
from setuptools import setup

setup(
    name="dgm_ros",
    version="0.9.0",
    packages=["dgm_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/dgm_ros"]),
        ("share/dgm_ros", ["package.xml"]),
        ("share/dgm_ros/launch", ["launch/predict.launch.py"]),
        ("share/dgm_ros/config", ["config/predict.yaml"]),
    ],
    license="Apache-2.0",
    install_requires=["dgm"],
    entry_points={"console_scripts": ["predict = dgm_ros.predict:main"]},
)
